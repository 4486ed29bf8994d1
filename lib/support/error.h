/* "The operation failed" (cannot open, limit reached, unsupported) is a GError; "the input is wrong" is a finding in a
 * sink (support/diag.h). A tool maps an error to exit status 2 and findings of severity error to 1. */
#ifndef ONNXL_SUPPORT_ERROR_H
#define ONNXL_SUPPORT_ERROR_H

#include <glib.h>

#define ONNXL_ERROR (onnxl_error_quark())
GQuark onnxl_error_quark(void);

typedef enum OnnxlErrorCode {
  ONNXL_ERROR_IO,          /* a system call failed */
  ONNXL_ERROR_LIMIT,       /* a limit of OnnxlLimits was reached, or memory ran out */
  ONNXL_ERROR_UNSUPPORTED, /* valid, but this program cannot do it */
  ONNXL_ERROR_USAGE,       /* the command line or an argument of it is wrong */
  ONNXL_ERROR_INVALID,     /* the input is wrong; the findings in the sink say what. Exit status 1 */
} OnnxlErrorCode;

/* Sets error (which may be NULL) with errno's text appended: "MESSAGE: No such file or directory". Returns false. */
gboolean onnxl_error_errno(GError **error, int saved_errno, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Sets an ONNXL_ERROR of the code. Returns false, so that a caller can write: return onnxl_fail(error, …). */
gboolean onnxl_fail(GError **error, OnnxlErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

#endif
