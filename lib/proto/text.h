/* ONNX's textual syntax with its lossless extension (docs/text-format.md): reading and writing. */
#ifndef ONNXL_PROTO_TEXT_H
#define ONNXL_PROTO_TEXT_H

#include "proto/model.h"
#include "support/output.h"

/* Parses text into model, which is empty. Strings without escapes are slices of text, which must outlive the model.
 * model->folder is where references of "#: embed" are looked up; the files they name are kept mapped in
 * model->data_files. All findings of one run are reported, sorted by place. Returns false with ONNXL_ERROR_INVALID when
 * there are errors, ONNXL_ERROR_IO when a referenced file cannot be read, ONNXL_ERROR_LIMIT when the text is nested
 * more deeply than max_depth or needs more than the arena's budget. */
bool onnxl_text_read(OnnxlStr text, uint32_t max_depth, OnnxlModel *model, OnnxlDiagSink *sink,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What to do with the values of tensors. */
typedef enum OnnxlWeights {
  ONNXL_WEIGHTS_INLINE, /* write all values */
  ONNXL_WEIGHTS_AUTO,   /* refer to the bytes of the file that was read for payloads over 1024 bytes */
  ONNXL_WEIGHTS_ELIDE,  /* leave values of tensors over 1024 bytes out */
  ONNXL_WEIGHTS_FILE,   /* move payloads over 1024 bytes to a file of their own */
} OnnxlWeights;

typedef struct OnnxlTextOptions {
  OnnxlWeights weights;
  const char *folder;    /* AUTO, FILE: the folder of the text, which references are relative to */
  const char *data_name; /* FILE: location written in references */
  bool elements;         /* print 2-, 4- and 8-bit and half types as elements */
  OnnxlDiagSink *lossy; /* not NULL: portable text, which ONNX's own parser reads; each field that is left out becomes a
                         * finding here. Not with AUTO and ELIDE, which need the extension. */
} OnnxlTextOptions;

/* Writes the canonical text. With ONNXL_WEIGHTS_FILE each payload that moves is handed to move_payload() in order,
 * which copies it and returns its offset. Write errors stick in out. Returns false with error when a payload could not
 * be moved, with ONNXL_ERROR_INVALID when a packed list of numbers is malformed, or with ONNXL_ERROR_UNSUPPORTED when
 * portable text cannot say the model. */
typedef bool (*OnnxlMovePayload)(void *data, OnnxlStr payload, uint64_t *ret_offset, GError **error);
bool onnxl_text_write(OnnxlOutput *out, const OnnxlModel *model, const OnnxlTextOptions *options,
                      OnnxlMovePayload move_payload, void *move_data, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
