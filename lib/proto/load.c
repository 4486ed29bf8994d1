/* One entry for every kind of input: what it is is told by its content. */
#include "proto/json.h"
#include "proto/model.h"
#include "proto/text.h"
#include "proto/wire.h"
#include "support/error.h"

typedef enum Format { FORMAT_BINARY, FORMAT_TEXT, FORMAT_JSON } Format;

/* Bytes that occur in no text but early in every binary model, whose first bytes are tags and lengths. */
static bool
is_binary_byte(uint8_t byte)
{
  return byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte == 0x7f || byte >= 0xf8;
}

static Format
sniff(OnnxlStr input)
{
  size_t i = 0;

  if (input.size >= 3 && memcmp(input.data, "\xef\xbb\xbf", 3) == 0)
    i = 3;
  for (size_t j = i; j < MIN(input.size, 256); j++)
    if (is_binary_byte((uint8_t)input.data[j]))
      return FORMAT_BINARY;
  while (i < input.size && strchr(" \t\n\v\f\r", input.data[i]))
    i++;
  return i < input.size && input.data[i] == '{' ? FORMAT_JSON : FORMAT_TEXT;
}

enum { FLATBUFFER_MAGIC = 4 };

/* The magic of a FlatBuffer is no proof: that many bytes into an ONNX model its producer_name may start. The offset of
 * the root, a small multiple of 4, is: read as ONNX it has a field 0. */
static bool
starts_flatbuffer(OnnxlStr input)
{
  return input.data[0] % 4 == 0 && memcmp(input.data + 1, "\0\0", 3) == 0;
}

/* Files that are taken for models by mistake. None of them could be read as one, but what the reader would say of them
 * helps nobody. Returns NULL for all others. */
static const char *
other_kind(OnnxlStr input, bool binary)
{
  static const struct {
    bool binary;
    size_t offset;
    const char *magic, *what;
  } kinds[] = {
    { false, 0, "version https://git-lfs", "a Git LFS pointer, not a model, which 'git lfs pull' fetches" },
    { false, 0, "<!DOCTYPE", "an HTML page, not a model" },
    { false, 0, "<!doctype", "an HTML page, not a model" },
    { false, 0, "<html", "an HTML page, not a model" },
    { true, 0, "PK\x03\x04", "a zip archive, not a model" },
    { true, 0, "\x1f\x8b", "compressed by gzip" },
    { true, FLATBUFFER_MAGIC, "ORTM", "a model in the format of ONNX Runtime, not of ONNX" },
    { true, FLATBUFFER_MAGIC, "TFL3", "a model of TensorFlow Lite, not of ONNX" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
    size_t size = strlen(kinds[i].magic);
    if (kinds[i].binary == binary && input.size >= kinds[i].offset + size &&
        memcmp(input.data + kinds[i].offset, kinds[i].magic, size) == 0 &&
        (kinds[i].offset != FLATBUFFER_MAGIC || starts_flatbuffer(input)))
      return kinds[i].what;
  }
  return NULL;
}

static OnnxlModel *
load(const char *path, const OnnxlLimits *limits, bool weights_only, OnnxlDiagSink *sink, GError **error)
{
  OnnxlFile *file = onnxl_file_open(path, limits->max_memory, error);
  bool done = false;

  if (!file)
    return NULL;
  OnnxlModel *model = onnxl_model_new(onnxl_limits_metadata(limits, file->size));
  OnnxlStr input = { file->data ? file->data : "", (size_t)file->size };
  model->file = file;
  if (file->path) {
    g_free(model->folder);
    model->folder = g_path_get_dirname(file->path);
  }
  onnxl_diag_sink_set_file(sink, file->name);
  Format format = sniff(input);
  bool binary = format == FORMAT_BINARY;
  const char *other = other_kind(input, binary);

  if (input.size == 0) {
    onnxl_diag(sink, ONNXL_DIAG_EMPTY_INPUT, NULL, "input is empty");
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the input is empty");
  } else if (other) {
    const OnnxlLocation start = { .line = !binary, .column = !binary, .has_offset = binary };
    onnxl_diag(sink, ONNXL_DIAG_NOT_A_MODEL, &start, "this is %s", other);
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the input is %s", other);
  } else {
    switch (format) {
    case FORMAT_BINARY:
      done = weights_only
               ? onnxl_wire_read_weights(input, limits, model->arena, &model->proto, sink, error)
               : onnxl_wire_read(&onnxl_model_descriptor, input, 0, limits, model->arena, &model->proto, sink, error);
      break;
    case FORMAT_TEXT:
      done = onnxl_text_read(input, limits->max_depth, model, sink, error);
      break;
    case FORMAT_JSON:
      done = onnxl_model_from_json(input, limits->max_depth, model, sink, error);
      break;
    }
  }
  if (done)
    return model;
  onnxl_model_free(model);
  return NULL;
}

OnnxlModel *
onnxl_model_load(const char *path, const OnnxlLimits *limits, OnnxlDiagSink *sink, GError **error)
{
  return load(path, limits, false, sink, error);
}

OnnxlModel *
onnxl_model_load_weights(const char *path, const OnnxlLimits *limits, OnnxlDiagSink *sink, GError **error)
{
  return load(path, limits, true, sink, error);
}
