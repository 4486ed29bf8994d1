/* A JSON writer. It puts commas, line breaks and escapes; that containers match and keys stand where they must is the
 * caller's business. Deterministic: the same calls give the same bytes. */
#ifndef ONNXL_SUPPORT_JSON_H
#define ONNXL_SUPPORT_JSON_H

#include "support/output.h"

typedef struct OnnxlJson {
  OnnxlOutput *out;
  uint32_t depth;       /* containers that are open */
  uint32_t break_depth; /* the items of the outer break_depth containers stand on lines of their own */
  bool filled;          /* something stands before in the container, so that a comma is due */
  bool after_key;
} OnnxlJson;

/* out: borrowed. break_depth 0: everything on one line, as in JSON Lines. */
void onnxl_json_init(OnnxlJson *json, OnnxlOutput *out, uint32_t break_depth);

void onnxl_json_begin_object(OnnxlJson *json);
void onnxl_json_end_object(OnnxlJson *json);
void onnxl_json_begin_array(OnnxlJson *json);
void onnxl_json_end_array(OnnxlJson *json);

/* The key of the next value in an object. Bytes that are not UTF-8 become U+FFFD. */
void onnxl_json_key(OnnxlJson *json, const char *key);
void onnxl_json_key_str(OnnxlJson *json, OnnxlStr key);

/* Text as a string, NULL as null. Bytes that are not UTF-8 become U+FFFD. */
void onnxl_json_string(OnnxlJson *json, OnnxlStr text);
void onnxl_json_text(OnnxlJson *json, const char *text);

/* Bytes: a string when they are UTF-8, else {"base64": "…"}. */
void onnxl_json_bytes(OnnxlJson *json, OnnxlStr bytes);

/* Bytes as a string in base64. */
void onnxl_json_base64(OnnxlJson *json, OnnxlStr bytes);

void onnxl_json_int64(OnnxlJson *json, int64_t value);
void onnxl_json_uint64(OnnxlJson *json, uint64_t value);
void onnxl_json_bool(OnnxlJson *json, bool value);
void onnxl_json_null(OnnxlJson *json);

/* Shortest digits that read back; the strings "nan", "inf" and "-inf" where JSON has no number. */
void onnxl_json_float(OnnxlJson *json, float value);
void onnxl_json_double(OnnxlJson *json, double value);

/* A value that is JSON already. */
void onnxl_json_raw(OnnxlJson *json, OnnxlStr value);

/* Ends a document, or a line of JSON Lines, with a line break. */
void onnxl_json_end(OnnxlJson *json);

#endif
