#include "support/error.h"

#include <errno.h>
#include <stdarg.h>

G_DEFINE_QUARK(onnxl - error - quark, onnxl_error)

gboolean
onnxl_error_errno(GError **error, int saved_errno, const char *format, ...)
{
  va_list args;
  if (!error)
    return FALSE;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  /* Memory is a limit, everything else a system call's failure. */
  g_set_error(error, ONNXL_ERROR, saved_errno == ENOMEM ? ONNXL_ERROR_LIMIT : ONNXL_ERROR_IO, "%s: %s", text,
              g_strerror(saved_errno));
  g_free(text);
  return FALSE;
}

gboolean
onnxl_fail(GError **error, OnnxlErrorCode code, const char *format, ...)
{
  va_list args;
  if (!error)
    return FALSE;
  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(ONNXL_ERROR, (int)code, format, args));
  va_end(args);
  return FALSE;
}
