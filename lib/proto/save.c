#include "proto/save.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/tensor.h"
#include "proto/text.h"
#include "proto/wire.h"
#include "support/error.h"
#include "support/file.h"

/* One call copies at most this much, so that a signal is not kept waiting. */
enum { COPY_CHUNK = 1 << 30 };

/* Bytes written after which the pages of the mapped files are given back: payloads too small for the kernel's copy pass
 * through them, and all of them together may be more than the memory. */
enum { RELEASE_STEP = 256 << 10 };

typedef struct Target {
  const OnnxlModel *model;
  OnnxlOutput *out;
  size_t unreleased;
  bool allow_large;
  GError **error;
  bool refused; /* error is set */
} Target;

/* Nothing is lost: the pages are read again when they are needed. */
static void
release_pages(const OnnxlFile *file)
{
  if (file && file->data)
    (void)madvise((void *)file->data, (size_t)file->size, MADV_DONTNEED);
}

/* Copies from file to out inside the kernel as far as that goes. Returns: the number of bytes copied. */
static size_t
copy_in_kernel(const OnnxlFile *file, uint64_t offset, size_t size, OnnxlOutput *out)
{
  off_t at = (off_t)offset;
  size_t left = size;
  bool range = true;

  while (left > 0) {
    size_t chunk = MIN(left, (size_t)COPY_CHUNK);
    ssize_t n =
      range ? copy_file_range(file->fd, &at, out->fd, NULL, chunk, 0) : sendfile(out->fd, file->fd, &at, chunk);
    if (n > 0)
      left -= (size_t)n;
    else if (n < 0 && errno == EINTR)
      continue;
    else if (range) /* not between these two files: a pipe, another file system */
      range = false;
    else
      break;
  }
  return size - left;
}

/* Where the output is a file that ends at this place, so that it may get a hole here. */
static bool
may_have_hole(const OnnxlOutput *out, off_t *ret_end)
{
  struct stat info;
  int flags = fcntl(out->fd, F_GETFL);

  return flags >= 0 && !(flags & O_APPEND) && fstat(out->fd, &info) == 0 && S_ISREG(info.st_mode) &&
         (*ret_end = lseek(out->fd, 0, SEEK_CUR)) >= info.st_size;
}

/* The same, where what the file does not store is not stored in the copy either. */
static size_t
copy_sparsely(const OnnxlFile *file, uint64_t offset, size_t size, OnnxlOutput *out)
{
  size_t done = 0;
  off_t end;

  while (done < size) {
    off_t at = (off_t)(offset + done);
    off_t data = lseek(file->fd, at, SEEK_DATA);
    size_t left = size - done, hole = left;

    if (data >= 0 || errno != ENXIO) /* ENXIO: nothing but a hole up to the end */
      hole = data > at ? MIN(left, (size_t)(data - at)) : 0;
    if (hole > 0 && may_have_hole(out, &end)) {
      if (ftruncate(out->fd, end + (off_t)hole) != 0 || lseek(out->fd, (off_t)hole, SEEK_CUR) < 0)
        break;
      done += hole;
      continue;
    }
    off_t next = hole > 0 ? -1 : lseek(file->fd, at, SEEK_HOLE);
    size_t run = next > at ? MIN(left, (size_t)(next - at)) : left;
    size_t copied = copy_in_kernel(file, offset + done, run, out);
    done += copied;
    if (copied < run)
      break;
  }
  return done;
}

void
onnxl_payload_write(OnnxlOutput *out, const OnnxlModel *model, OnnxlStr payload)
{
  uint64_t offset;
  size_t copied = 0;
  const OnnxlFile *file = out->fd >= 0 ? onnxl_model_file_of(model, payload, &offset) : NULL;

  if (file && onnxl_output_flush(out, "", NULL)) {
    copied = copy_sparsely(file, offset, payload.size, out);
    out->flushed += copied;
  }
  /* What the kernel refused, for whatever reason, goes the usual way, which also tells the reason. */
  onnxl_output_write(out, payload.data + copied, payload.size - copied);
}

static bool
put_bytes(void *data, const void *bytes, size_t size)
{
  Target *target = data;
  const OnnxlModel *model = target->model;
  uint64_t offset;

  onnxl_output_write(target->out, bytes, size);
  if (onnxl_model_file_of(model, onnxl_str_n(bytes, size), &offset))
    target->unreleased += size;
  if (target->unreleased >= RELEASE_STEP) {
    target->unreleased = 0;
    release_pages(model->file);
    for (guint i = 0; model->data_files && i < model->data_files->len; i++)
      release_pages(g_ptr_array_index(model->data_files, i));
  }
  return target->out->saved_errno == 0;
}

static bool
put_payload(void *data, OnnxlStr slice)
{
  Target *target = data;

  onnxl_payload_write(target->out, target->model, slice);
  return target->out->saved_errno == 0;
}

static bool
check_size(uint64_t size, bool allow_large, GError **error)
{
  if (size > ONNXL_WIRE_MAX_PORTABLE && !allow_large)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED,
                      "the model takes %" G_GUINT64_FORMAT " bytes in one file, and most protobuf readers refuse more "
                      "than 2 GiB; move its weights to external data (onnxl-align --to=external) or allow it with "
                      "--allow-large",
                      size);
  return true;
}

bool
onnxl_model_check_size(const OnnxlModel *model, bool allow_large, GError **error)
{
  uint64_t size;

  if (!onnxl_wire_size(&onnxl_model_descriptor, &model->proto, &size))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the size of the model does not fit in 64 bits");
  return check_size(size, allow_large, error);
}

static bool
begin(void *data, uint64_t size)
{
  Target *target = data;

  target->refused = !check_size(size, target->allow_large, target->error);
  return !target->refused;
}

bool
onnxl_model_write(const OnnxlModel *model, OnnxlOutput *out, bool allow_large, GError **error)
{
  Target target = { model, out, 0, allow_large, error, false };
  OnnxlWireTarget wire = { begin, put_bytes, put_payload, &target };

  if (onnxl_wire_write(&onnxl_model_descriptor, &model->proto, &wire) || out->saved_errno != 0)
    return true;
  if (target.refused)
    return false;
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "out of memory while writing the model");
}

bool
onnxl_model_is_at(const OnnxlModel *model, const char *path)
{
  struct stat info;

  return path && model->file && stat(path, &info) == 0 && info.st_dev == model->file->stat.st_dev &&
         info.st_ino == model->file->stat.st_ino;
}

/* Of weights in a file that is to be written. */
typedef struct WeightSearch {
  const char *folder, *path;
  char *location; /* looked at last: most tensors lie in the same file */
} WeightSearch;

static bool
check_tensor(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  WeightSearch *search = data;
  (void)path;
  for (size_t i = 0; i < tensor->external_data.count; i++) {
    OnnxlStr value = tensor->external_data.items[i].value;
    if (!onnxl_str_is(tensor->external_data.items[i].key, "location") ||
        (search->location && onnxl_str_is(value, search->location)))
      continue;
    g_free(search->location);
    search->location = g_strndup(value.data, value.size);
    g_autofree char *file = g_build_filename(search->folder, search->location, NULL);
    if (onnxl_path_same_file(file, search->path))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "cannot write %s: weights of the model that is read are in it",
                        search->path);
  }
  return true;
}

bool
onnxl_model_check_output(OnnxlModel *model, const char *folder, const char *path, GError **error)
{
  WeightSearch search = { .folder = folder ? folder : model->folder, .path = path };
  struct stat status;
  if (!path || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
    return true;
  bool free_to_write = onnxl_model_visit_tensors(model, check_tensor, &search, error);
  g_free(search.location);
  return free_to_write;
}

bool
onnxl_model_save(const OnnxlModel *model, OnnxlOutput *out, const char *path, bool text, bool allow_large,
                 GError **error)
{
  if (!text)
    return onnxl_model_write(model, out, allow_large, error);
  g_autofree char *folder = g_path_get_dirname(path ? path : "");
  OnnxlTextOptions options = {
    .weights = onnxl_model_is_at(model, path) ? ONNXL_WEIGHTS_INLINE : ONNXL_WEIGHTS_AUTO,
    .folder = folder,
  };
  return onnxl_text_write(out, model, &options, NULL, NULL, error);
}
