#include "stream/align.h"

#include "stream/align-internal.h"
#include "stream/checksum-internal.h"
#include "support/error.h"

OnnxlAlignSummary
onnxl_align_plan_summary(const OnnxlAlignPlan *plan)
{
  return plan->summary;
}

size_t
onnxl_align_plan_shards(const OnnxlAlignPlan *plan)
{
  return plan->n_shards;
}

static bool
exhausted(GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the new places need more memory than --max-metadata allows");
}

/* Sets all entries of a key, so that it does not matter which of them a reader takes; adds one when there is none.
 * value.data NULL: nothing could be allocated. */
static bool
set_entry(OnnxlAlignPlan *plan, OnnxlTensor *tensor, OnnxlStr key, OnnxlStr value, GError **error)
{
  OnnxlPair *added = NULL;
  bool found = false;

  for (size_t i = 0; i < tensor->external_data.count; i++) {
    OnnxlPair *pair = &tensor->external_data.items[i];
    if (onnxl_str_equal(pair->key, key)) {
      pair->value = value;
      found = true;
    }
  }
  if (!found && value.data)
    added = ONNXL_APPEND(plan->model->arena, &tensor->external_data);
  if (!value.data || (!found && !added))
    return exhausted(error);
  if (added)
    *added = (OnnxlPair){ .key = key, .value = value };
  return true;
}

static bool
takes_checksum(const OnnxlAlignPlan *plan, const OnnxlAlignEntry *entry)
{
  return plan->options.checksum || entry->had_checksum;
}

bool
onnxl_align_checksums(OnnxlAlignPlan *plan, const int *fds, const char *const *names, GError **error)
{
  char **digits = ONNXL_NEW_ARRAY(plan->model->arena, char *, plan->n_shards);

  if (!digits)
    return exhausted(error);
  for (size_t i = 0; i < plan->n_entries; i++) {
    const OnnxlAlignEntry *entry = &plan->entries[i];
    uint32_t shard = entry->shard;
    if (!takes_checksum(plan, entry))
      continue;
    if (!digits[shard]) {
      digits[shard] = onnxl_arena_alloc(plan->model->arena, ONNXL_CHECKSUM_SIZE + 1);
      if (digits[shard] &&
          !onnxl_file_checksum(fds[shard], plan->shards[shard].size, names[shard], digits[shard], error))
        return false;
    }
    if (!set_entry(plan, entry->tensor, ONNXL_STR("checksum"), onnxl_str_n(digits[shard], ONNXL_CHECKSUM_SIZE), error))
      return false;
  }
  return true;
}

static void
make_inline(const OnnxlAlignInline *entry)
{
  OnnxlTensor *tensor = entry->tensor;

  tensor->raw_data = entry->bytes;
  tensor->external_data.items = NULL;
  tensor->external_data.count = 0;
  tensor->has_data_location = false;
  tensor->data_location = ONNXL_LOCATION_DEFAULT;
}

static void
make_external(OnnxlTensor *tensor)
{
  const OnnxlPacked none = { { NULL, 0 } };

  tensor->raw_data = (OnnxlStr){ NULL, 0 };
  tensor->float_data = tensor->int32_data = tensor->int64_data = tensor->double_data = tensor->uint64_data = none;
  tensor->has_data_location = true;
  tensor->data_location = ONNXL_LOCATION_EXTERNAL;
}

static bool
set_place(OnnxlAlignPlan *plan, const OnnxlAlignEntry *entry, OnnxlStr location, GError **error)
{
  OnnxlArena *arena = plan->model->arena;
  OnnxlTensor *tensor = entry->tensor;

  make_external(tensor);
  return set_entry(plan, tensor, ONNXL_STR("location"), location, error) &&
         set_entry(plan, tensor, ONNXL_STR("offset"), onnxl_arena_uint64(arena, entry->offset), error) &&
         set_entry(plan, tensor, ONNXL_STR("length"), onnxl_arena_uint64(arena, entry->payload.length), error) &&
         /* Of the right size, so that the size of the model is known before the data file is. */
         (!takes_checksum(plan, entry) ||
          set_entry(plan, tensor, ONNXL_STR("checksum"), ONNXL_STR("0000000000000000000000000000000000000000"), error));
}

bool
onnxl_align_rewrite(OnnxlAlignPlan *plan, const char *const *locations, GError **error)
{
  OnnxlStr *copies = ONNXL_NEW_ARRAY(plan->model->arena, OnnxlStr, plan->n_shards);

  if (!copies)
    return exhausted(error);
  for (size_t i = 0; i < plan->n_shards; i++)
    copies[i] = onnxl_arena_copy(plan->model->arena, onnxl_str(locations[i]));
  for (size_t i = 0; i < plan->n_entries; i++) {
    const OnnxlAlignEntry *entry = &plan->entries[i];
    OnnxlStr location = copies[entry->shard];
    if (plan->rewritten ? !set_entry(plan, entry->tensor, ONNXL_STR("location"), location, error)
                        : !set_place(plan, entry, location, error))
      return false;
  }
  for (size_t i = 0; i < plan->n_inlines; i++)
    make_inline(&plan->inlines[i]);
  plan->rewritten = true;
  return true;
}
