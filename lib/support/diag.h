/* Findings about the input. Libraries add them to a sink that the tool hands in; only the tool prints. */
#ifndef ONNXL_SUPPORT_DIAG_H
#define ONNXL_SUPPORT_DIAG_H

#include <glib.h>

#include "support/arena.h"

typedef enum OnnxlSeverity { ONNXL_SEVERITY_NOTE, ONNXL_SEVERITY_WARNING, ONNXL_SEVERITY_ERROR } OnnxlSeverity;

/* Every id, from diag-ids.def: DIAG(IDENTIFIER, "id", default severity, "one line for docs/diagnostics.md"). */
typedef enum OnnxlDiagId {
#define DIAG(identifier, text, severity, summary) ONNXL_DIAG_##identifier,
#include "support/diag-ids.def"
#undef DIAG
  ONNXL_N_DIAGS
} OnnxlDiagId;

/* Where: a place in a text, an offset in a binary file, a path in the graph, or only the file. */
typedef struct OnnxlLocation {
  const char *file; /* borrowed; NULL = the sink's default file */
  uint32_t line;    /* from 1; 0 = not a text location */
  uint32_t column;  /* from 1, in bytes */
  uint32_t length;  /* bytes to underline; 0 = 1 */
  bool has_offset;  /* offset is meaningful */
  uint64_t offset;  /* byte offset in a binary file */
  const char *path; /* graph path such as "/then_branch/conv1 (Conv)", or NULL */
} OnnxlLocation;

typedef struct OnnxlDiag {
  OnnxlDiagId id;
  OnnxlSeverity severity;
  OnnxlLocation location; /* strings are owned by the sink */
  const char *message;    /* lower case, no final period, names both values */
  const char *source;     /* the source line of a text location, or NULL */
  size_t source_size;
  uint32_t source_column; /* column of the first byte of source, above 1 when a very long line was cut */
} OnnxlDiag;

typedef struct OnnxlDiagSink OnnxlDiagSink;

/* file: default file name for locations, copied; may be NULL. */
OnnxlDiagSink *onnxl_diag_sink_new(const char *file);
void onnxl_diag_sink_free(OnnxlDiagSink *sink);
void onnxl_diag_sink_set_file(OnnxlDiagSink *sink, const char *file);

/* The text that line locations refer to, so that a finding can carry its source line. Borrowed until the next call. */
void onnxl_diag_sink_set_text(OnnxlDiagSink *sink, OnnxlStr text);

/* At most n errors are kept (0 = all); later ones are only counted. Default 20. */
void onnxl_diag_sink_set_max_errors(OnnxlDiagSink *sink, uint32_t n);

/* "ID", "no-ID" (drop warnings and notes; an error is dropped only when errors are optional), "error", "error=ID",
 * "no-error" or "no-error=ID" as after -W. False: no such id. */
bool onnxl_diag_sink_configure(OnnxlDiagSink *sink, const char *option) G_GNUC_WARN_UNUSED_RESULT;

/* Lets "no-ID" drop errors as well: for a verifier, which builds nothing on what it lets pass. Functions that report
 * such an error still fail. Default: false. */
void onnxl_diag_sink_set_optional(OnnxlDiagSink *sink, bool optional);

/* Adds a finding with the id's default severity as changed by -W options. where may be NULL; its strings are copied. A
 * message above 4 KiB is cut. */
void onnxl_diag(OnnxlDiagSink *sink, OnnxlDiagId id, const OnnxlLocation *where, const char *format, ...)
  G_GNUC_PRINTF(4, 5);

/* Adds a note to the finding before it; dropped if that one was dropped. */
void onnxl_diag_note(OnnxlDiagSink *sink, const OnnxlLocation *where, const char *format, ...) G_GNUC_PRINTF(3, 4);

uint32_t onnxl_diag_errors(const OnnxlDiagSink *sink);
uint32_t onnxl_diag_warnings(const OnnxlDiagSink *sink);
size_t onnxl_diag_count(const OnnxlDiagSink *sink);
const OnnxlDiag *onnxl_diag_get(const OnnxlDiagSink *sink, size_t i);

/* Sorts text findings by place; others keep the order in which they were added, notes stay with their finding. */
void onnxl_diag_sort(OnnxlDiagSink *sink);

const char *onnxl_diag_id_text(OnnxlDiagId id);
const char *onnxl_diag_id_summary(OnnxlDiagId id);
OnnxlSeverity onnxl_diag_id_severity(OnnxlDiagId id);

#endif
