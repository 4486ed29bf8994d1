#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream/align-internal.h"
#include "stream/checksum-internal.h"
#include "support/error.h"

/* As many as OnnxlAlignEntry.shard can tell apart. */
enum { MAX_ENTRIES = 1 << 30 };

/* What the walk over the tensors needs besides the plan. */
typedef struct Planner {
  OnnxlAlignPlan *plan;
  OnnxlExternalFiles *files;
  OnnxlDiagSink *sink;
  GHashTable *adopted; /* OnnxlExternalFile to OnnxlFile */
  OnnxlFileSums *sums; /* of the source, or NULL when they are not verified */
  size_t n_tensors;    /* that are external, or may have to be: room for as many entries */
  size_t inline_capacity;
  bool invalid;         /* there are findings; the walk goes on to report all */
  GHashTable *unopened; /* locations that cannot be opened, owned */
  GError *first_unopened;
  char *first_path; /* of its tensor */
} Planner;

static bool
exhausted(GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the plan needs more memory than --max-metadata allows");
}

static bool
add_entry(Planner *planner, OnnxlTensor *tensor, OnnxlPayload payload, bool was_inline, bool had_checksum,
          GError **error)
{
  OnnxlAlignPlan *plan = planner->plan;

  if (!plan->entries && planner->n_tensors < MAX_ENTRIES)
    plan->entries = ONNXL_NEW_ARRAY(plan->model->arena, OnnxlAlignEntry, planner->n_tensors);
  if (!plan->entries)
    return exhausted(error);
  plan->entries[plan->n_entries] = (OnnxlAlignEntry){
    .tensor = tensor,
    .payload = payload,
    .was_inline = was_inline,
    .had_checksum = had_checksum,
    .same_as = (uint32_t)plan->n_entries,
  };
  plan->n_entries++;
  return true;
}

/* Maps an external file as one of the model's, so that payloads may be slices of it. Returns: borrowed. */
static const OnnxlFile *
adopt_file(Planner *planner, const OnnxlExternalFile *external, GError **error)
{
  OnnxlModel *model = planner->plan->model;
  OnnxlFile *file = g_hash_table_lookup(planner->adopted, external);

  if (file)
    return file;
  file = g_new0(OnnxlFile, 1);
  file->name = g_strdup(external->location);
  file->fd = fcntl(external->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  file->size = external->size;
  void *data = file->size > 0 ? mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE, external->fd, 0) : NULL;
  if (file->fd < 0 || data == MAP_FAILED || fstat(file->fd, &file->stat) < 0) {
    onnxl_error_errno(error, errno, "cannot map external data '%s'", external->location);
    onnxl_file_free(file);
    return NULL;
  }
  file->data = data;
  if (!model->data_files)
    model->data_files = g_ptr_array_new_with_free_func((GDestroyNotify)onnxl_file_free);
  g_ptr_array_add(model->data_files, file);
  g_hash_table_insert(planner->adopted, (gpointer)external, file);
  return file;
}

static bool
add_inline(Planner *planner, OnnxlTensor *tensor, const OnnxlExternalRange *range, GError **error)
{
  OnnxlAlignPlan *plan = planner->plan;
  OnnxlStr bytes = ONNXL_STR("");

  if (!ONNXL_GROW(plan->model->arena, &plan->inlines, plan->n_inlines, &planner->inline_capacity))
    return exhausted(error);
  if (range->needed > 0) {
    const OnnxlFile *file = adopt_file(planner, range->file, error);
    if (!file)
      return false;
    bytes = onnxl_str_n(file->data + range->offset, (size_t)range->needed);
  }
  plan->inlines[plan->n_inlines++] = (OnnxlAlignInline){ tensor, bytes };
  return true;
}

static void
report_unopened(Planner *planner, const char *path, const GError *error)
{
  const OnnxlLocation where = { .path = path };

  onnxl_diag(planner->sink, ONNXL_DIAG_EXTERNAL_FILE, &where, "%s", error->message);
}

/* One is an error like any other; several are findings, each file once. Takes error. */
static void
add_unopened(Planner *planner, OnnxlStr location, const char *path, GError *error)
{
  bool is_new = g_hash_table_add(planner->unopened, g_strndup(location.data, location.size));

  if (is_new && !planner->first_unopened) {
    planner->first_unopened = g_steal_pointer(&error);
    planner->first_path = g_strdup(path);
  } else if (is_new) {
    if (g_hash_table_size(planner->unopened) == 2)
      report_unopened(planner, planner->first_path, planner->first_unopened);
    report_unopened(planner, path, error);
  }
  g_clear_error(&error);
}

static bool
fail_unopened(Planner *planner, GError **error)
{
  guint n = g_hash_table_size(planner->unopened);

  if (n > 1)
    return onnxl_fail(error, ONNXL_ERROR_IO, "%u files of external data cannot be opened", n);
  g_propagate_error(error, g_steal_pointer(&planner->first_unopened));
  return false;
}

/* Of a tensor whose range was not found. The walk goes on behind a file that cannot be opened: so may others be. */
static bool
note_failure(Planner *planner, const OnnxlTensor *tensor, const char *path, GError *failure, GError **error)
{
  OnnxlExternal external;

  if (!g_error_matches(failure, ONNXL_ERROR, ONNXL_ERROR_IO) ||
      !onnxl_tensor_external(tensor, path, planner->sink, &external, NULL)) {
    g_propagate_error(error, failure);
    return false;
  }
  add_unopened(planner, external.location, path, failure);
  return true;
}

static bool
plan_external(Planner *planner, OnnxlTensor *tensor, const char *path, GError **error)
{
  OnnxlExternalRange range;
  GError *local = NULL;

  if (!onnxl_external_range(planner->files, tensor, path, planner->sink, &range, &local))
    return note_failure(planner, tensor, path, local, error);
  if (planner->sums && range.checksum.data &&
      !onnxl_file_sums_verify(planner->sums, range.file, range.checksum, tensor, path, planner->sink, error))
    return false;
  if (range.needed < planner->plan->options.inline_below)
    return add_inline(planner, tensor, &range, error);
  return add_entry(planner, tensor, onnxl_payload_external(&range, range.needed), false, range.checksum.data != NULL,
                   error);
}

static bool
plan_inline(Planner *planner, OnnxlTensor *tensor, const char *path, GError **error)
{
  OnnxlAlignPlan *plan = planner->plan;
  OnnxlTensorView view;

  if (plan->options.threshold == UINT64_MAX)
    return true;
  if (!onnxl_tensor_view(tensor, path, planner->sink, &view, error))
    return false;
  if ((view.storage != ONNXL_STORAGE_RAW && view.storage != ONNXL_STORAGE_TYPED) ||
      view.bytes < plan->options.threshold)
    return true;
  return add_entry(planner, tensor, onnxl_payload_inline(plan->model, &view), true, false, error);
}

/* Entries are the largest part of the plan: counted first, they need no room to grow into. */
static bool
count_tensor(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  Planner *planner = data;

  (void)path;
  (void)error;
  planner->n_tensors += onnxl_tensor_is_external(tensor) || planner->plan->options.threshold < UINT64_MAX;
  return true;
}

static bool
plan_tensor(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  Planner *planner = data;
  GError *local = NULL;
  bool ok = onnxl_tensor_is_external(tensor) ? plan_external(planner, tensor, path, &local)
                                             : plan_inline(planner, tensor, path, &local);

  if (ok)
    return true;
  if (g_error_matches(local, ONNXL_ERROR, ONNXL_ERROR_INVALID)) {
    planner->invalid = true;
    g_error_free(local);
    return true;
  }
  g_propagate_error(error, local);
  return false;
}

/* Largest first, in model order among equals. */
static int
by_size(const void *left, const void *right, void *data)
{
  const OnnxlAlignPlan *plan = data;
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  uint64_t size_a = plan->entries[a].payload.length, size_b = plan->entries[b].payload.length;

  return size_a != size_b ? (size_a < size_b ? 1 : -1) : (a > b) - (a < b);
}

static bool
make_order(OnnxlAlignPlan *plan, GError **error)
{
  plan->order = ONNXL_NEW_ARRAY(plan->model->arena, uint32_t, plan->n_entries);
  if (!plan->order)
    return exhausted(error);
  for (size_t i = 0; i < plan->n_entries; i++)
    if (plan->entries[i].same_as == i && plan->entries[i].payload.length > 0)
      plan->order[plan->n_order++] = (uint32_t)i;
  if (plan->options.by_size)
    g_qsort_with_data(plan->order, (gint)plan->n_order, sizeof *plan->order, by_size, plan);
  return true;
}

static bool
add_shard(OnnxlAlignPlan *plan, size_t first, size_t *capacity, GError **error)
{
  if (!ONNXL_GROW(plan->model->arena, &plan->shards, plan->n_shards, capacity))
    return exhausted(error);
  plan->shards[plan->n_shards++] = (OnnxlAlignShard){ .first = first };
  return true;
}

/* Gives every entry of order its place. A tensor without bytes stays at offset 0, which is inside of any file. */
static bool
lay_out(OnnxlAlignPlan *plan, GError **error)
{
  uint64_t mask = plan->options.alignment - 1;
  size_t capacity = 0;

  if (plan->n_entries > 0 && !add_shard(plan, 0, &capacity, error))
    return false;
  for (size_t i = 0; i < plan->n_order; i++) {
    OnnxlAlignEntry *entry = &plan->entries[plan->order[i]];
    OnnxlAlignShard *shard = &plan->shards[plan->n_shards - 1];
    uint64_t offset, end;
    if (__builtin_add_overflow(shard->size, mask, &offset) ||
        __builtin_add_overflow(offset & ~mask, entry->payload.length, &end) || end > INT64_MAX)
      return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the data file would be larger than a file can be");
    offset &= ~mask;
    if (end > plan->options.shard_size && shard->count > 0) {
      if (!add_shard(plan, i, &capacity, error))
        return false;
      shard = &plan->shards[plan->n_shards - 1];
      offset = 0;
      end = entry->payload.length;
    }
    entry->shard = (plan->n_shards - 1) & (MAX_ENTRIES - 1);
    entry->offset = offset;
    plan->summary.padding += offset - shard->size;
    plan->summary.bytes += entry->payload.length;
    shard->size = end;
    shard->count++;
  }
  return true;
}

static void
finish_entries(OnnxlAlignPlan *plan)
{
  for (size_t i = 0; i < plan->n_entries; i++) {
    OnnxlAlignEntry *entry = &plan->entries[i];
    const OnnxlAlignEntry *owner = &plan->entries[entry->same_as];
    entry->shard = owner->shard;
    entry->offset = owner->offset;
    plan->summary.n_shared += owner != entry;
    plan->summary.n_moved_out += entry->was_inline;
  }
  plan->summary.n_external = plan->n_entries;
  plan->summary.n_moved_in = plan->n_inlines;
}

static bool
make_plan(OnnxlAlignPlan *plan, Planner *planner, GError **error)
{
  if (!onnxl_model_visit_tensors(plan->model, count_tensor, planner, error) ||
      !onnxl_model_visit_tensors(plan->model, plan_tensor, planner, error))
    return false;
  if (g_hash_table_size(planner->unopened) > 0)
    return fail_unopened(planner, error);
  if (planner->invalid)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "tensors of the model are not valid");
  if ((plan->options.dedup && !onnxl_align_dedup(plan, error)) || !make_order(plan, error) || !lay_out(plan, error))
    return false;
  finish_entries(plan);
  return true;
}

OnnxlAlignPlan *
onnxl_align_plan_new(OnnxlModel *model, OnnxlExternalFiles *files, const OnnxlAlignOptions *options,
                     OnnxlDiagSink *sink, GError **error)
{
  OnnxlAlignPlan *plan = g_new0(OnnxlAlignPlan, 1);
  Planner planner = { .plan = plan, .files = files, .sink = sink };

  planner.adopted = g_hash_table_new(NULL, NULL);
  planner.unopened = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  plan->model = model;
  plan->options = *options;
  if (options->checksum)
    planner.sums = onnxl_file_sums_new();
  bool ok = make_plan(plan, &planner, error);
  onnxl_file_sums_free(planner.sums);
  g_hash_table_destroy(planner.adopted);
  g_hash_table_destroy(planner.unopened);
  g_clear_error(&planner.first_unopened);
  g_free(planner.first_path);
  if (ok)
    return plan;
  onnxl_align_plan_free(plan);
  return NULL;
}

void
onnxl_align_plan_free(OnnxlAlignPlan *plan)
{
  g_free(plan);
}
