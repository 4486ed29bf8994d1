/* Filling the data files, two of them at a time where there are several. */
#include <errno.h>
#include <unistd.h>

#include "stream/align-internal.h"
#include "support/error.h"

enum {
  /* Writing to one file is serial inside the kernel, so it is files that are copied side by side. More than two compete
   * for the device and for memory. */
  MAX_WORKERS = 2,
  WORTH_A_WORKER = 8 << 20, /* bytes: a thread takes as long to start as a megabyte to copy */
};

/* The job that workers share; what changes is guarded by lock. */
typedef struct Job {
  const OnnxlAlignPlan *plan;
  const int *fds;
  const char *const *names;
  const OnnxlCopyOptions *options; /* the caller's */
  GMutex lock;
  size_t next; /* shard that nobody has taken yet */
  bool stopped;
  OnnxlCopyStats stats;
  GError *error; /* the first one */
} Job;

/* True when the second of two copies goes on where the first one ends, on both sides. */
static bool
follows(const OnnxlAlignEntry *a, const OnnxlAlignEntry *b, uint64_t length)
{
  return a->payload.kind == ONNXL_PAYLOAD_FILE && b->payload.kind == ONNXL_PAYLOAD_FILE &&
         a->payload.place.fd == b->payload.place.fd && a->payload.place.offset + length == b->payload.place.offset &&
         a->offset + length == b->offset;
}

/* Part of a shard that is filled from its start to its end. */
typedef struct Run {
  size_t next;  /* index of the first entry behind it */
  uint64_t end; /* in the data file */
} Run;

/* The longest run from an entry on: padding of less than a block belongs to it, a source with holes ends it. The
 * entries of one source mostly lie together, so that it is looked at once. */
static Run
find_run(const OnnxlAlignPlan *plan, const OnnxlAlignShard *range, size_t first, uint64_t block)
{
  const uint32_t *order = plan->order + range->first;
  Run run = { first, plan->entries[order[first]].offset };
  int fd = -1;

  for (; run.next < range->count; run.next++) {
    const OnnxlAlignEntry *entry = &plan->entries[order[run.next]];
    if (entry->offset - run.end >= block)
      break;
    if (entry->payload.kind == ONNXL_PAYLOAD_FILE && entry->payload.place.fd != fd) {
      fd = entry->payload.place.fd;
      if (onnxl_copy_is_sparse(fd))
        break;
    }
    run.end = entry->offset + entry->payload.length;
  }
  run.next = MAX(run.next, first + 1);
  return run;
}

static bool
copy_shard(const OnnxlAlignPlan *plan, size_t shard, int fd, const char *name, OnnxlCopier *copier, GError **error)
{
  const OnnxlAlignShard *range = &plan->shards[shard];
  const uint32_t *order = plan->order + range->first;

  /* The full size at once: no padding has to be written, and holes may be left anywhere. */
  while (ftruncate(fd, (off_t)range->size) < 0)
    if (errno != EINTR)
      return onnxl_error_errno(error, errno, "cannot write '%s'", name);
  uint64_t block = onnxl_copy_block_size(fd);
  Run run = { 0, 0 };
  for (size_t i = 0, next; i < range->count; i = next) {
    const OnnxlAlignEntry *first = &plan->entries[order[i]];
    OnnxlPayload payload = first->payload;
    if (i >= run.next) {
      run = find_run(plan, range, i, block);
      onnxl_copier_expect(copier, run.end);
    }
    for (next = i + 1; next < range->count && follows(first, &plan->entries[order[next]], payload.length); next++)
      payload.length += plan->entries[order[next]].payload.length;
    if (!onnxl_payload_copy(&payload, (OnnxlCopyPlace){ fd, first->offset, name }, copier, error))
      return false;
  }
  return true;
}

/* The caller's progress function is called by one worker at a time. */
static bool
report_progress(void *data, uint64_t bytes)
{
  Job *job = data;

  g_mutex_lock(&job->lock);
  job->stopped |= job->options->progress && !job->options->progress(job->options->data, bytes);
  bool go_on = !job->stopped;
  g_mutex_unlock(&job->lock);
  return go_on;
}

static bool
take_shard(Job *job, size_t *ret_shard)
{
  g_mutex_lock(&job->lock);
  bool more = !job->stopped && job->next < job->plan->n_shards;
  if (more)
    *ret_shard = job->next++;
  g_mutex_unlock(&job->lock);
  return more;
}

static void
finish_worker(Job *job, const OnnxlCopier *copier, GError *error)
{
  OnnxlCopyStats stats = onnxl_copier_stats(copier);

  g_mutex_lock(&job->lock);
  for (size_t i = 0; i < ONNXL_N_COPY_METHODS; i++)
    job->stats.by_method[i] += stats.by_method[i];
  job->stats.holes += stats.holes;
  job->stopped |= error != NULL;
  if (error && !job->error)
    job->error = error;
  else
    g_clear_error(&error); /* most likely because the other worker stopped this one */
  g_mutex_unlock(&job->lock);
}

static void *
work(void *data)
{
  Job *job = data;
  OnnxlCopyOptions options = *job->options;
  GError *error = NULL;
  size_t shard;

  options.progress = report_progress;
  options.data = job;
  OnnxlCopier *copier = onnxl_copier_new(&options);
  while (!error && take_shard(job, &shard))
    copy_shard(job->plan, shard, job->fds[shard], job->names[shard], copier, &error);
  finish_worker(job, copier, error);
  onnxl_copier_free(copier);
  return NULL;
}

bool
onnxl_align_copy(const OnnxlAlignPlan *plan, const int *fds, const char *const *names, const OnnxlCopyOptions *options,
                 OnnxlCopyStats *ret_stats, GError **error)
{
  Job job = { .plan = plan, .fds = fds, .names = names, .options = options };
  GThread *threads[MAX_WORKERS - 1];
  size_t n_threads = 0;

  g_mutex_init(&job.lock);
  while (n_threads + 1 < MIN(plan->n_shards, (size_t)MAX_WORKERS) &&
         plan->summary.bytes / WORTH_A_WORKER > n_threads + 1 &&
         (threads[n_threads] = g_thread_try_new("copy", work, &job, NULL)))
    n_threads++;
  work(&job); /* alone, when there are no more threads to be had */
  for (size_t i = 0; i < n_threads; i++)
    g_thread_join(threads[i]);
  g_mutex_clear(&job.lock);
  *ret_stats = job.stats;
  if (job.error)
    g_propagate_error(error, job.error);
  return !job.error;
}
