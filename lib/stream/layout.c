#include "stream/layout.h"

#include "stream/checksum-internal.h"
#include "stream/external-internal.h"
#include "support/error.h"
#include "support/sort.h"

typedef struct Checker {
  OnnxlModel *model;
  OnnxlExternalFiles *files;
  const OnnxlLayoutOptions *options;
  OnnxlDiagSink *sink;
  OnnxlLayout *layout;
  OnnxlFileSums *sums; /* or NULL */
  size_t capacity;
} Checker;

static bool
exhausted(GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the report needs more memory than --max-metadata allows");
}

static bool
check_external(Checker *checker, const OnnxlTensor *tensor, const char *path, GError **error)
{
  OnnxlLayout *layout = checker->layout;
  OnnxlLocation where = { .path = path };
  OnnxlExternalRange range;

  if (!onnxl_external_range_as(checker->files, tensor, path, ONNXL_DIAG_EXTERNAL_LENGTH_CHECK, checker->sink, &range,
                               error))
    return false;
  bool aligned = range.length == 0 || range.offset % checker->options->alignment == 0;
  if (!aligned)
    onnxl_diag(checker->sink, ONNXL_DIAG_EXTERNAL_ALIGNMENT, &where,
               "tensor '%.*s': offset %" G_GUINT64_FORMAT " is no multiple of %" G_GUINT64_FORMAT,
               ONNXL_ARG(tensor->name), range.offset, checker->options->alignment);
  if (layout->n_tensors >= INT32_MAX ||
      !ONNXL_GROW(checker->model->arena, &layout->tensors, layout->n_tensors, &checker->capacity))
    return exhausted(error);
  layout->tensors[layout->n_tensors++] = (OnnxlLayoutTensor){
    tensor->name, range.file->index, range.offset, range.length, range.needed, aligned,
  };
  return !checker->sums || !range.checksum.data ||
         onnxl_file_sums_verify(checker->sums, range.file, range.checksum, tensor, path, checker->sink, error);
}

/* Findings, and files that cannot be opened, do not end the walk: the next tensor may be wrong as well. */
static bool
check_tensor(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  Checker *checker = data;
  OnnxlLocation where = { .path = path };
  GError *local = NULL;

  if (!onnxl_tensor_is_external(tensor) || check_external(checker, tensor, path, &local))
    return true;
  if (g_error_matches(local, ONNXL_ERROR, ONNXL_ERROR_IO))
    onnxl_diag(checker->sink, ONNXL_DIAG_EXTERNAL_FILE, &where, "%s", local->message);
  else if (!g_error_matches(local, ONNXL_ERROR, ONNXL_ERROR_INVALID)) {
    g_propagate_error(error, local);
    return false;
  }
  g_error_free(local);
  return true;
}

/* By file and offset, longer ranges first, then in model order. */
static int
by_place(const void *left, const void *right)
{
  const OnnxlLayoutTensor *a = *(const OnnxlLayoutTensor *const *)left, *b = *(const OnnxlLayoutTensor *const *)right;

  if (a->file != b->file)
    return a->file < b->file ? -1 : 1;
  if (a->offset != b->offset)
    return a->offset < b->offset ? -1 : 1;
  if (a->length != b->length)
    return a->length > b->length ? -1 : 1;
  return a < b ? -1 : a > b;
}

static void
report_overlap(Checker *checker, const OnnxlLayoutTensor *before, const OnnxlLayoutTensor *tensor, uint64_t end)
{
  OnnxlLayoutFile *file = &checker->layout->files[tensor->file];

  file->overlaps++;
  onnxl_diag(checker->sink, ONNXL_DIAG_EXTERNAL_OVERLAP, NULL,
             "tensors '%.*s' and '%.*s' overlap: both have bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
             " of '%s'",
             ONNXL_ARG(before->name), ONNXL_ARG(tensor->name), tensor->offset,
             MIN(end, tensor->offset + tensor->length) - 1, file->location);
}

/* Passes along the sorted ranges with the farthest end so far. */
static void
sweep(Checker *checker, const OnnxlLayoutTensor **sorted, size_t count)
{
  const OnnxlLayoutTensor *farthest = NULL;
  uint64_t end = 0;

  for (size_t i = 0; i < count; i++) {
    const OnnxlLayoutTensor *tensor = sorted[i];
    OnnxlLayoutFile *file = &checker->layout->files[tensor->file];
    uint64_t tensor_end = tensor->offset + tensor->length;
    file->tensors++;
    if (tensor->length == 0)
      continue;
    if (!farthest || farthest->file != tensor->file)
      end = 0;
    uint64_t common = MIN(end, tensor_end) - MIN(end, tensor->offset);
    bool same = common > 0 && farthest->offset == tensor->offset && farthest->length == tensor->length;
    if (common > 0 && !same)
      report_overlap(checker, farthest, tensor, end);
    file->shared += common;
    file->used += tensor->length - common;
    if (tensor_end > end || end == 0) {
      farthest = tensor;
      end = tensor_end;
    }
  }
}

static bool
measure(Checker *checker, GError **error)
{
  OnnxlLayout *layout = checker->layout;
  OnnxlArena *arena = checker->model->arena;
  size_t n_files = onnxl_external_files_count(checker->files);
  const OnnxlLayoutTensor **sorted = ONNXL_NEW_ARRAY(arena, const OnnxlLayoutTensor *, layout->n_tensors);

  layout->files = ONNXL_NEW_ARRAY(arena, OnnxlLayoutFile, n_files);
  if (!sorted || !layout->files)
    return exhausted(error);
  layout->n_files = n_files;
  for (size_t i = 0; i < n_files; i++) {
    const OnnxlExternalFile *file = onnxl_external_files_get(checker->files, i);
    layout->files[i] = (OnnxlLayoutFile){ .location = file->location, .size = file->size };
  }
  for (size_t i = 0; i < layout->n_tensors; i++)
    sorted[i] = &layout->tensors[i];
  onnxl_sort(sorted, layout->n_tensors, sizeof *sorted, by_place);
  sweep(checker, sorted, layout->n_tensors);
  return true;
}

bool
onnxl_layout_check(OnnxlModel *model, OnnxlExternalFiles *files, const OnnxlLayoutOptions *options, OnnxlDiagSink *sink,
                   OnnxlLayout *ret_layout, GError **error)
{
  Checker checker = { model, files, options, sink, ret_layout, options->checksum ? onnxl_file_sums_new() : NULL, 0 };
  uint32_t errors = onnxl_diag_errors(sink);

  *ret_layout = (OnnxlLayout){ 0 };
  bool ok = onnxl_model_visit_tensors(model, check_tensor, &checker, error) && measure(&checker, error);
  onnxl_file_sums_free(checker.sums);
  if (ok && onnxl_diag_errors(sink) > errors)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "the external data are not as they should be");
  return ok;
}
