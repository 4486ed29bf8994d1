/* Laying the weights of a model anew: a plan says which range goes where, copying carries it out, and the model is
 * rewritten to match. Weights move from file to file; what is in memory is the model's metadata and the plan. */
#ifndef ONNXL_STREAM_ALIGN_H
#define ONNXL_STREAM_ALIGN_H

#include "stream/copy.h"
#include "stream/external.h"

typedef struct OnnxlAlignOptions {
  uint64_t alignment;    /* of each tensor in its data file, bytes, a power of two */
  uint64_t threshold;    /* inline tensors of at least so many bytes move out; UINT64_MAX: none. Strings never do */
  uint64_t inline_below; /* external tensors of fewer bytes move in; 0: none, UINT64_MAX: all */
  uint64_t shard_size;   /* a data file has at most so many bytes, unless a tensor has more; UINT64_MAX: one file */
  bool dedup;            /* tensors with equal bytes share one range; else each has its own, whatever the source has */
  bool by_size;          /* largest first instead of in model order */
  bool checksum;         /* every external tensor gets a checksum entry, and those of the source are verified */
} OnnxlAlignOptions;

typedef struct OnnxlAlignPlan OnnxlAlignPlan;

/* Plans for model, whose external data is in files; both must outlive the plan. Nothing is written, and payloads are
 * read only to find equal ones or to verify checksums. Every range is checked before the first byte is copied. Returns:
 * owned; NULL with ONNXL_ERROR_INVALID and findings, ONNXL_ERROR_IO or ONNXL_ERROR_LIMIT. */
OnnxlAlignPlan *onnxl_align_plan_new(OnnxlModel *model, OnnxlExternalFiles *files, const OnnxlAlignOptions *options,
                                     OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_align_plan_free(OnnxlAlignPlan *plan);

typedef struct OnnxlAlignSummary {
  size_t n_external;  /* tensors in data files */
  size_t n_moved_out; /* of these, that were inline */
  size_t n_moved_in;  /* tensors that were external */
  size_t n_shared;    /* external tensors that use the range of another one */
  uint64_t bytes;     /* to be copied into data files */
  uint64_t padding;   /* between them, bytes */
} OnnxlAlignSummary;

OnnxlAlignSummary onnxl_align_plan_summary(const OnnxlAlignPlan *plan);

/* Data files to be written, 0 when nothing will be external. */
size_t onnxl_align_plan_shards(const OnnxlAlignPlan *plan);

/* Fills the data files, which are empty: each gets its size, then its ranges; what lies between reads as zeros. fds,
 * names (for messages): one a data file. options: progress is called by one thread at a time, not always the caller's.
 * ret_stats: of all files, also after a failure. */
bool onnxl_align_copy(const OnnxlAlignPlan *plan, const int *fds, const char *const *names,
                      const OnnxlCopyOptions *options, OnnxlCopyStats *ret_stats,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes the model name the new places. locations: of each data file, relative to the model, copied. Entries keep their
 * order, and those with unknown keys stay. It may be called again with other locations; the size of the model depends
 * on them and on nothing that happens later. */
bool onnxl_align_rewrite(OnnxlAlignPlan *plan, const char *const *locations, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes the checksum of each data file, which is the SHA-1 of the whole file, into the rewritten model: to all of its
 * tensors, or without OnnxlAlignOptions.checksum to those that had one. Files of which nobody wants it are not read.
 * fds, names: of all data files, filled. */
bool onnxl_align_checksums(OnnxlAlignPlan *plan, const int *fds, const char *const *names,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
