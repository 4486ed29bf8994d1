/* The plan as its parts see it: align-plan.c makes it, align-dedup.c finds equal payloads, align.c carries it out. */
#ifndef ONNXL_STREAM_ALIGN_INTERNAL_H
#define ONNXL_STREAM_ALIGN_INTERNAL_H

#include "stream/align.h"
#include "stream/payload-internal.h"

/* A tensor that will be external. */
typedef struct OnnxlAlignEntry {
  OnnxlTensor *tensor;
  OnnxlPayload payload;
  uint64_t offset;  /* in the data file */
  uint32_t same_as; /* the entry whose range it uses; its own number when it has one */
  uint32_t shard : 30;
  bool was_inline : 1;
  bool had_checksum : 1;
} OnnxlAlignEntry;

/* A tensor that will be inline. */
typedef struct OnnxlAlignInline {
  OnnxlTensor *tensor;
  OnnxlStr bytes; /* mapped */
} OnnxlAlignInline;

/* A data file: a run of OnnxlAlignPlan.order. */
typedef struct OnnxlAlignShard {
  size_t first, count;
  uint64_t size; /* bytes */
} OnnxlAlignShard;

struct OnnxlAlignPlan {
  OnnxlModel *model;
  OnnxlAlignOptions options;
  OnnxlAlignEntry *entries; /* in model order */
  size_t n_entries;
  uint32_t *order; /* of the entries with bytes of their own, as they lie in the files */
  size_t n_order;
  OnnxlAlignInline *inlines;
  size_t n_inlines;
  OnnxlAlignShard *shards;
  size_t n_shards;
  OnnxlAlignSummary summary;
  bool rewritten;
};

/* Sets same_as of entries whose bytes are those of an earlier one. */
bool onnxl_align_dedup(OnnxlAlignPlan *plan, GError **error);

#endif
