/* Equal payloads: only those of one length can be, only those of one hash are compared, and only the comparison counts.
 */
#include "stream/align-internal.h"

#include "support/error.h"
#include "support/sort.h"

typedef struct Candidate {
  const OnnxlAlignEntry *entry;
  uint32_t index; /* of the entry */
  uint64_t hash;
} Candidate;

static int
compare_uint64(uint64_t a, uint64_t b)
{
  return (a > b) - (a < b);
}

/* By length; within a length tensors of one place in one file stand together, the first of them in the model first. */
static int
by_place(const void *left, const void *right)
{
  const Candidate *a = left, *b = right;
  const OnnxlPayload *p = &a->entry->payload, *q = &b->entry->payload;
  int order = compare_uint64(p->length, q->length);

  if (order == 0)
    order = compare_uint64(p->kind, q->kind);
  if (order == 0 && p->kind == ONNXL_PAYLOAD_FILE) {
    order = compare_uint64((uint64_t)p->place.fd, (uint64_t)q->place.fd);
    if (order == 0)
      order = compare_uint64(p->place.offset, q->place.offset);
  }
  return order != 0 ? order : compare_uint64(a->index, b->index);
}

static int
by_hash(const void *left, const void *right)
{
  const Candidate *a = left, *b = right;
  int order = compare_uint64(a->hash, b->hash);

  return order != 0 ? order : compare_uint64(a->index, b->index);
}

static bool
is_same_place(const OnnxlPayload *a, const OnnxlPayload *b)
{
  return a->kind == ONNXL_PAYLOAD_FILE && b->kind == ONNXL_PAYLOAD_FILE && a->place.fd == b->place.fd &&
         a->place.offset == b->place.offset;
}

/* Tensors that already share a range need not be read. Returns how many others are left at the start of group. */
static size_t
join_places(OnnxlAlignPlan *plan, Candidate *group, size_t count)
{
  size_t left = 0;

  for (size_t i = 0; i < count; i++) {
    if (left > 0 && is_same_place(&group[left - 1].entry->payload, &group[i].entry->payload))
      plan->entries[group[i].index].same_as = group[left - 1].index;
    else
      group[left++] = group[i];
  }
  return left;
}

/* Joins payloads of one length. Of those with one hash each is compared with the first one only: that two payloads
 * differ under one hash happens to nobody but to somebody who wants it, and then sharing less is better than taking
 * longer. */
static bool
join_contents(OnnxlAlignPlan *plan, Candidate *group, size_t count, GError **error)
{
  for (size_t i = 0; i < count; i++)
    if (!onnxl_payload_hash(&group[i].entry->payload, &group[i].hash, error))
      return false;
  onnxl_sort(group, count, sizeof *group, by_hash);
  for (size_t i = 1, first = 0; i < count; i++) {
    bool equal = false;
    if (group[i].hash != group[first].hash)
      first = i;
    else if (!onnxl_payload_equal(&group[first].entry->payload, &group[i].entry->payload, &equal, error))
      return false;
    if (equal)
      plan->entries[group[i].index].same_as = group[first].index;
  }
  return true;
}

bool
onnxl_align_dedup(OnnxlAlignPlan *plan, GError **error)
{
  Candidate *candidates = g_try_new(Candidate, plan->n_entries);
  bool ok = true;

  if (plan->n_entries == 0)
    return true;
  if (!candidates)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "out of memory");
  for (size_t i = 0; i < plan->n_entries; i++)
    candidates[i] = (Candidate){ &plan->entries[i], (uint32_t)i, 0 };
  onnxl_sort(candidates, plan->n_entries, sizeof *candidates, by_place);
  for (size_t i = 0, end; i < plan->n_entries && ok; i = end) {
    uint64_t length = candidates[i].entry->payload.length;
    for (end = i + 1; end < plan->n_entries && candidates[end].entry->payload.length == length; end++)
      continue;
    size_t count = length > 0 ? join_places(plan, candidates + i, end - i) : 0;
    ok = count < 2 || join_contents(plan, candidates + i, count, error);
  }
  g_free(candidates);
  /* An entry that was joined by place may name one that was joined by contents later. */
  for (size_t i = 0; i < plan->n_entries; i++) {
    uint32_t *same_as = &plan->entries[i].same_as;
    *same_as = plan->entries[*same_as].same_as;
  }
  return ok;
}
