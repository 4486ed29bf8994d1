/* codec FILE TASK ROUNDS: CPU milliseconds of this process, one line a round, for one task on one model:
 * parse (bytes to model), serialize (model to bytes), print (model to text), parse-text (that text to a model).
 * Memory is made and freed within the measured time, as the witness codec-libonnx.cc does. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "proto/text.h"
#include "proto/wire.h"

static const char *path;

static _Noreturn void
stop(const char *what, GError *error)
{
  fprintf(stderr, "codec: %s: %s\n", what, error ? error->message : "failed");
  exit(2);
}

static double
milliseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static OnnxlModel *
parse(OnnxlStr bytes, const OnnxlLimits *limits, OnnxlDiagSink *sink)
{
  GError *error = NULL;
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);

  if (!onnxl_wire_read(&onnxl_model_descriptor, bytes, 0, limits, model->arena, &model->proto, sink, &error))
    stop("parse", error);
  return model;
}

static bool
make_room(void *data, uint64_t size)
{
  return onnxl_output_reserve(data, size) != NULL;
}

static bool
append(void *data, const void *bytes, size_t size)
{
  onnxl_output_write(data, bytes, size);
  return true;
}

static bool
append_payload(void *data, OnnxlStr slice)
{
  onnxl_output_str(data, slice);
  return true;
}

static void
serialize(const OnnxlModel *model, OnnxlOutput *out)
{
  OnnxlWireTarget target = { make_room, append, append_payload, out };

  onnxl_output_init(out, -1);
  if (!onnxl_wire_write(&onnxl_model_descriptor, &model->proto, &target))
    stop("serialize", NULL);
}

static void
print(const OnnxlModel *model, OnnxlOutput *out)
{
  GError *error = NULL;
  OnnxlTextOptions options = { .weights = ONNXL_WEIGHTS_INLINE };

  onnxl_output_init(out, -1);
  if (!onnxl_text_write(out, model, &options, NULL, NULL, &error))
    stop("print", error);
}

static OnnxlModel *
parse_text(OnnxlStr text, const OnnxlLimits *limits, OnnxlDiagSink *sink)
{
  GError *error = NULL;
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);

  if (!onnxl_text_read(text, limits->max_depth, model, sink, &error))
    stop("parse-text", error);
  return model;
}

int
main(int argc, char **argv)
{
  GError *error = NULL;
  OnnxlLimits limits = onnxl_limits_default();
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  char *bytes;
  gsize size;
  OnnxlOutput text;

  if (argc != 4)
    stop("usage", NULL);
  path = argv[1];
  if (!g_file_get_contents(path, &bytes, &size, &error))
    stop(path, error);
  OnnxlStr input = onnxl_str_n(bytes, size);
  OnnxlModel *model = parse(input, &limits, sink);
  print(model, &text);
  for (int rounds = atoi(argv[3]); rounds > 0; rounds--) {
    OnnxlOutput out = { .fd = -1 };
    double start = milliseconds();

    if (strcmp(argv[2], "parse") == 0)
      onnxl_model_free(parse(input, &limits, sink));
    else if (strcmp(argv[2], "serialize") == 0)
      serialize(model, &out);
    else if (strcmp(argv[2], "print") == 0)
      print(model, &out);
    else if (strcmp(argv[2], "parse-text") == 0)
      onnxl_model_free(parse_text(onnxl_output_memory(&text), &limits, sink));
    else
      stop(argv[2], NULL);
    onnxl_output_clear(&out);
    printf("%.3f\n", milliseconds() - start);
  }
  onnxl_output_clear(&text);
  onnxl_model_free(model);
  onnxl_diag_sink_free(sink);
  g_free(bytes);
  return 0;
}
