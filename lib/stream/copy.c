#include "stream/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "support/error.h"

enum {
  PAGE = 4096,
  DEFAULT_CHUNK = 4 << 20,
  PIPE_SIZE = 1 << 20,         /* the most that an unprivileged process may ask for by default */
  SMALL_PIECE = 128 << 10,     /* that splice() moves at once, see watch_pace() */
  SMALL_WINDOW = 1 << 20,      /* bytes over which the pace of small pieces is measured */
  WINDOW = 4 << 20,            /* and that of large ones */
  SLOW = 2,                    /* times what small pieces take a byte */
  BUFFER_SIZE = 128 << 10,     /* of read/write */
  WRITE_BACK_STEP = 8 << 20,   /* bytes after which the device is told to start */
  WORTH_RESERVING = 256 << 10, /* bytes: smaller pieces between holes take more time when reserved than when not */
};

/* How long pieces take to go through the pipe. */
typedef struct Pace {
  bool large;        /* pieces are as large as the pipe allows */
  bool settled;      /* nothing is measured any more */
  uint64_t small_ns; /* that the first window took, of small pieces; 0: not known yet */
  uint64_t start_ns; /* of this window, of the thread's processor time; 0: none has been started */
  uint64_t bytes;    /* in this window */
} Pace;

/* A file that something is remembered of. A descriptor may have been closed and its number used again, so the file is
 * told by its inode as well. */
typedef struct KnownFile {
  int fd; /* -1: none */
  dev_t device;
  ino_t inode;
} KnownFile;

/* What happened to a part of a range. */
typedef enum Step {
  STEP_DONE,
  STEP_REFUSED, /* the system cannot do this between the two files: errno says why; try another way */
  STEP_FAILED,  /* error is set */
} Step;

struct OnnxlCopier {
  OnnxlCopyOptions options;
  OnnxlCopyStats stats;
  KnownFile source;
  bool sparse; /* it has holes */
  KnownFile dest;
  bool remote;                         /* its file system may copy on a server */
  bool reserves;                       /* it is filled faster where blocks have been reserved */
  uint64_t block;                      /* of its file system, which sharing needs */
  uint64_t expected_end, reserved_end; /* in it */
  bool refused[ONNXL_N_COPY_METHODS];  /* between these two */
  uint64_t unsynced;                   /* bytes since the device was told to write */
  int pipe[2];                         /* -1: not made yet */
  uint64_t pipe_size;
  Pace pace;
  /* At the start of a page: where two addresses differ by a few bytes only, processors copy at half the speed. */
  char *buffer;
};

const char *
onnxl_copy_method_name(OnnxlCopyMethod method)
{
  static const char *const names[ONNXL_N_COPY_METHODS] = {
    [ONNXL_COPY_AUTO] = "auto",     [ONNXL_COPY_REFLINK] = "reflink",       [ONNXL_COPY_RANGE] = "copy_file_range",
    [ONNXL_COPY_SPLICE] = "splice", [ONNXL_COPY_READ_WRITE] = "read/write",
  };

  return names[method];
}

OnnxlCopier *
onnxl_copier_new(const OnnxlCopyOptions *options)
{
  OnnxlCopier *copier = g_new0(OnnxlCopier, 1);

  copier->options = *options;
  if (copier->options.chunk_size == 0)
    copier->options.chunk_size = DEFAULT_CHUNK;
  /* A signal must not wait for a call that copies a terabyte. */
  copier->options.chunk_size = MIN(copier->options.chunk_size, (uint64_t)1 << 30);
  copier->source.fd = copier->dest.fd = -1;
  copier->pipe[0] = copier->pipe[1] = -1;
  return copier;
}

static void
close_pipe(OnnxlCopier *copier)
{
  for (int i = 0; i < 2; i++) {
    if (copier->pipe[i] >= 0)
      close(copier->pipe[i]);
    copier->pipe[i] = -1;
  }
}

void
onnxl_copier_free(OnnxlCopier *copier)
{
  if (!copier)
    return;
  close_pipe(copier);
  g_aligned_free(copier->buffer);
  g_free(copier);
}

OnnxlCopyStats
onnxl_copier_stats(const OnnxlCopier *copier)
{
  return copier->stats;
}

/* The answers of systems that cannot copy between two files in a certain way, though each of them works by itself. */
static bool
is_refusal(int error_number)
{
  switch (error_number) {
  case EXDEV:
  case EOPNOTSUPP:
  case EINVAL:
  case ENOSYS:
  case EPERM:
  case ENOTTY:
  case EBADF:
  case ETXTBSY:
    return true;
  default:
    return false;
  }
}

static Step
failed(GError **error, OnnxlCopyPlace source, OnnxlCopyPlace dest)
{
  int saved_errno = errno;

  if (is_refusal(saved_errno))
    return STEP_REFUSED;
  onnxl_error_errno(error, saved_errno, "cannot copy '%s' to '%s'", source.name, dest.name);
  return STEP_FAILED;
}

/* Counts bytes that are in their place and asks whether to go on. */
static bool
advance(OnnxlCopier *copier, OnnxlCopyPlace dest, uint64_t bytes, GError **error)
{
  copier->unsynced += bytes;
  if (copier->options.write_back && copier->unsynced >= WRITE_BACK_STEP) {
    /* Only advice: fsync() will tell what failed. */
    (void)sync_file_range(dest.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    copier->unsynced = 0;
  }
  if (!copier->options.progress || copier->options.progress(copier->options.data, bytes))
    return true;
  return onnxl_fail(error, ONNXL_ERROR_IO, "copying '%s' was cancelled", dest.name);
}

static void
move_on(OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length, uint64_t bytes)
{
  source->offset += bytes;
  dest->offset += bytes;
  *length -= bytes;
}

/* Shares the whole blocks at the start of the range. */
static Step
step_reflink(OnnxlCopier *copier, OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length, GError **error)
{
  uint64_t bytes = *length - *length % copier->block;
  struct file_clone_range range = { source->fd, source->offset, bytes, dest->offset };

  if (bytes == 0 || source->offset % copier->block != 0 || dest->offset % copier->block != 0) {
    errno = EINVAL;
    return STEP_REFUSED;
  }
  while (ioctl(dest->fd, FICLONERANGE, &range) < 0)
    if (errno != EINTR)
      return failed(error, *source, *dest);
  copier->stats.by_method[ONNXL_COPY_REFLINK] += bytes;
  move_on(source, dest, length, bytes);
  return advance(copier, *dest, bytes, error) ? STEP_DONE : STEP_FAILED;
}

static Step
step_range(OnnxlCopier *copier, OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length, GError **error)
{
  while (*length > 0) {
    off_t from = (off_t)source->offset, to = (off_t)dest->offset;
    ssize_t n = copy_file_range(source->fd, &from, dest->fd, &to, MIN(*length, copier->options.chunk_size), 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed(error, *source, *dest);
    if (n == 0) {
      /* The end of the source, or a pseudo file whose size is a lie: reading will tell. */
      errno = EOPNOTSUPP;
      return STEP_REFUSED;
    }
    copier->stats.by_method[ONNXL_COPY_RANGE] += (uint64_t)n;
    move_on(source, dest, length, (uint64_t)n);
    if (!advance(copier, *dest, (uint64_t)n, error))
      return STEP_FAILED;
  }
  return STEP_DONE;
}

static bool
open_pipe(OnnxlCopier *copier)
{
  if (copier->pipe[0] >= 0)
    return true;
  if (pipe2(copier->pipe, O_CLOEXEC) < 0) {
    copier->pipe[0] = copier->pipe[1] = -1;
    return false;
  }
  /* The system may have less to give; a small pipe works as well. */
  int size = fcntl(copier->pipe[1], F_SETPIPE_SZ, PIPE_SIZE);
  if (size < 0)
    size = fcntl(copier->pipe[1], F_GETPIPE_SZ);
  copier->pipe_size = MAX((uint64_t)MAX(size, 0), 2 * PAGE);
  return true;
}

/* Moves bytes out of the pipe into the destination. What is left in the pipe after a failure is dropped with it. */
static Step
drain_pipe(OnnxlCopier *copier, OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length, uint64_t bytes,
           GError **error)
{
  while (bytes > 0) {
    off_t to = (off_t)dest->offset;
    ssize_t n = splice(copier->pipe[0], NULL, dest->fd, &to, bytes, SPLICE_F_MOVE);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      int saved_errno = n < 0 ? errno : EIO;
      close_pipe(copier);
      errno = saved_errno;
      return failed(error, *source, *dest);
    }
    bytes -= (uint64_t)n;
    copier->stats.by_method[ONNXL_COPY_SPLICE] += (uint64_t)n;
    move_on(source, dest, length, (uint64_t)n);
  }
  return STEP_DONE;
}

static uint64_t
thread_ns(void)
{
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Decides on the size of pieces. The kernel caches what it writes in blocks of that size: the larger, the less work.
 * But large free blocks run out, and in a virtual machine the next ones are those that the host took back; getting them
 * again takes six times as long as the copy, where there is always enough of small ones. So after a window of small
 * pieces come large ones, until they are clearly slower. */
static void
watch_pace(OnnxlCopier *copier, uint64_t bytes)
{
  Pace *pace = &copier->pace;

  pace->bytes += bytes;
  if (pace->settled || (pace->start_ns > 0 && pace->bytes < (uint64_t)(pace->large ? WINDOW : SMALL_WINDOW)))
    return;
  uint64_t now = thread_ns(), taken = now - pace->start_ns;
  if (pace->start_ns > 0 && pace->small_ns == 0) {
    pace->small_ns = taken;
    pace->large = true;
  } else if (pace->start_ns > 0 && taken > SLOW * (WINDOW / SMALL_WINDOW) * pace->small_ns) {
    pace->large = false;
    pace->settled = true;
  }
  pace->start_ns = now;
  pace->bytes = 0;
}

/* Bytes that do not start at a page touch one page more, and a piece that the pipe splits is written badly. Pieces end
 * at multiples of their size in the destination, where blocks of the cache do. */
static uint64_t
piece_size(const OnnxlCopier *copier, uint64_t source_offset, uint64_t dest_offset)
{
  uint64_t most = source_offset % PAGE == 0 ? copier->pipe_size : copier->pipe_size / 2;
  uint64_t size = copier->pace.large ? most : MIN((uint64_t)SMALL_PIECE, most);

  return size - dest_offset % size;
}

static Step
step_splice(OnnxlCopier *copier, OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length, GError **error)
{
  if (!open_pipe(copier)) {
    /* Out of descriptors or pipe memory; a buffer still does. */
    errno = EOPNOTSUPP;
    return STEP_REFUSED;
  }
  while (*length > 0) {
    off_t from = (off_t)source->offset;
    uint64_t wanted = MIN(MIN(*length, copier->options.chunk_size), piece_size(copier, source->offset, dest->offset));
    ssize_t n = splice(source->fd, &from, copier->pipe[1], NULL, wanted, SPLICE_F_MOVE);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed(error, *source, *dest);
    if (n == 0) {
      errno = EOPNOTSUPP;
      return STEP_REFUSED;
    }
    Step step = drain_pipe(copier, source, dest, length, (uint64_t)n, error);
    if (step != STEP_DONE)
      return step;
    watch_pace(copier, (uint64_t)n);
    if (!advance(copier, *dest, (uint64_t)n, error))
      return STEP_FAILED;
  }
  return STEP_DONE;
}

/* Reads up to size bytes; 0 only at the end of the file, -1 with errno. */
static ssize_t
read_some(OnnxlCopyPlace source, void *buffer, size_t size)
{
  ssize_t n;

  do
    n = pread(source.fd, buffer, size, (off_t)source.offset);
  while (n < 0 && errno == EINTR);
  return n;
}

static bool
write_all(const char *bytes, size_t size, OnnxlCopyPlace dest, GError **error)
{
  while (size > 0) {
    ssize_t n = pwrite(dest.fd, bytes, size, (off_t)dest.offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return onnxl_error_errno(error, n < 0 ? errno : EIO, "cannot write '%s'", dest.name);
    bytes += n;
    size -= (size_t)n;
    dest.offset += (uint64_t)n;
  }
  return true;
}

static bool
too_short(OnnxlCopyPlace source, uint64_t length, GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_IO, "'%s' ends before offset %" G_GUINT64_FORMAT, source.name,
                    source.offset + length);
}

static Step
step_read_write(OnnxlCopier *copier, OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length, GError **error)
{
  if (!copier->buffer)
    copier->buffer = g_aligned_alloc(1, BUFFER_SIZE, PAGE);
  while (*length > 0) {
    ssize_t n =
      read_some(*source, copier->buffer, MIN(MIN(*length, copier->options.chunk_size), (uint64_t)BUFFER_SIZE));
    if (n < 0) {
      onnxl_error_errno(error, errno, "cannot read '%s'", source->name);
      return STEP_FAILED;
    }
    if (n == 0) {
      too_short(*source, *length, error);
      return STEP_FAILED;
    }
    if (!write_all(copier->buffer, (size_t)n, *dest, error))
      return STEP_FAILED;
    copier->stats.by_method[ONNXL_COPY_READ_WRITE] += (uint64_t)n;
    move_on(source, dest, length, (uint64_t)n);
    if (!advance(copier, *dest, (uint64_t)n, error))
      return STEP_FAILED;
  }
  return STEP_DONE;
}

static bool
is_remote(__fsword_t type)
{
  switch ((uint32_t)type) {
  case NFS_SUPER_MAGIC:
  case CIFS_SUPER_MAGIC:
  case SMB2_SUPER_MAGIC:
  case CEPH_SUPER_MAGIC:
  case FUSE_SUPER_MAGIC:
    return true;
  default:
    return false;
  }
}

static bool
has_holes(int fd, const struct stat *info)
{
  int64_t spare = (int64_t)info->st_blocks * 512 - info->st_size;

  if (!S_ISREG(info->st_mode))
    return false;
  if (spare < info->st_blksize)
    return spare < 0;
  /* Blocks behind the end, and those that say where the others are, may make up for holes. Only then is it worth the
   * time: some file systems go through all pages. */
  off_t hole = lseek(fd, 0, SEEK_HOLE);
  return hole >= 0 && hole < info->st_size;
}

bool
onnxl_copy_is_sparse(int fd)
{
  struct stat info;

  return fstat(fd, &info) == 0 && has_holes(fd, &info);
}

/* Of an unknown one type is 0. */
static struct statfs
file_system(int fd)
{
  struct statfs system;

  return fstatfs(fd, &system) == 0 && system.f_bsize > 0 ? system : (struct statfs){ .f_bsize = PAGE };
}

uint64_t
onnxl_copy_block_size(int fd)
{
  return (uint64_t)file_system(fd).f_bsize;
}

/* Returns whether it is another file than the one that is known, which it then becomes. */
static bool
is_new(KnownFile *known, int fd, const struct stat *info)
{
  KnownFile file = { fd, info->st_dev, info->st_ino };

  if (known->fd == file.fd && known->device == file.device && known->inode == file.inode)
    return false;
  *known = file;
  return true;
}

static void
look_at_dest(OnnxlCopier *copier)
{
  struct statfs system = file_system(copier->dest.fd);

  copier->block = (uint64_t)system.f_bsize;
  copier->remote = is_remote(system.f_type);
  /* XFS and btrfs, which can share blocks instead, gain nothing. */
  copier->reserves = system.f_type == EXT4_SUPER_MAGIC || system.f_type == TMPFS_MAGIC;
  copier->reserved_end = 0;
}

/* Remembered answers hold for a pair of files. What is reserved stays so whatever the source: in memory, reserving
 * takes a look at every page, reserved or not. */
static bool
choose_pair(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, GError **error)
{
  struct stat from, to;

  if (fstat(source.fd, &from) < 0)
    return onnxl_error_errno(error, errno, "cannot look at '%s'", source.name);
  if (fstat(dest.fd, &to) < 0)
    return onnxl_error_errno(error, errno, "cannot look at '%s'", dest.name);
  bool new_source = is_new(&copier->source, source.fd, &from), new_dest = is_new(&copier->dest, dest.fd, &to);
  if (new_source)
    copier->sparse = has_holes(source.fd, &from);
  if (new_dest)
    look_at_dest(copier);
  if (new_source || new_dest)
    memset(copier->refused, 0, sizeof copier->refused);
  return true;
}

static Step
step_by(OnnxlCopier *copier, OnnxlCopyMethod method, OnnxlCopyPlace *source, OnnxlCopyPlace *dest, uint64_t *length,
        GError **error)
{
  switch (method) {
  case ONNXL_COPY_REFLINK:
    return step_reflink(copier, source, dest, length, error);
  case ONNXL_COPY_RANGE:
    return step_range(copier, source, dest, length, error);
  case ONNXL_COPY_SPLICE:
    return step_splice(copier, source, dest, length, error);
  default:
    return step_read_write(copier, source, dest, length, error);
  }
}

/* Copies a range without holes by the one method that was asked for. */
static bool
copy_forced(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length, GError **error)
{
  OnnxlCopyMethod method = copier->options.method;
  Step step = STEP_DONE;

  if (method != ONNXL_COPY_REFLINK || length >= copier->block)
    step = step_by(copier, method, &source, &dest, &length, error);
  if (step == STEP_DONE && length > 0)
    step = step_read_write(copier, &source, &dest, &length, error);
  if (step != STEP_REFUSED)
    return step == STEP_DONE;
  return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "cannot copy '%s' to '%s' by %s: %s", source.name, dest.name,
                    onnxl_copy_method_name(method), g_strerror(errno));
}

/* The method that was measured to be the fastest. Between local files, copy_file_range() goes through a pipe of the
 * kernel's own, of 16 pages: a tenth slower than ours, and a third where it shifts bytes against the pages. A file
 * system that copies on a server needs no pipe. */
static OnnxlCopyMethod
preferred_method(const OnnxlCopier *copier)
{
  return copier->remote ? ONNXL_COPY_RANGE : ONNXL_COPY_SPLICE;
}

/* Copies a range without holes by the best method that works, and remembers which do not. */
static bool
copy_best(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length, GError **error)
{
  const OnnxlCopyMethod order[] = { preferred_method(copier), ONNXL_COPY_RANGE, ONNXL_COPY_SPLICE,
                                    ONNXL_COPY_READ_WRITE };
  Step step = STEP_REFUSED;

  for (size_t i = 0; i < G_N_ELEMENTS(order) && step == STEP_REFUSED; i++) {
    if (copier->refused[order[i]])
      continue;
    step = step_by(copier, order[i], &source, &dest, &length, error);
    copier->refused[order[i]] = step == STEP_REFUSED;
  }
  return step == STEP_DONE;
}

void
onnxl_copier_expect(OnnxlCopier *copier, uint64_t end)
{
  copier->expected_end = end;
}

/* Reserves the blocks of a range and of what is to follow it at once: filling them takes a quarter less time than when
 * they are found one by one, and a disk that is too small is told before anything has been copied. */
static bool
reserve(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length, GError **error)
{
  uint64_t end = MAX(dest.offset + length, copier->expected_end);

  if (!copier->reserves || dest.offset < copier->reserved_end || end - dest.offset < WORTH_RESERVING)
    return true;
  if (fallocate(dest.fd, FALLOC_FL_KEEP_SIZE, (off_t)dest.offset, (off_t)(end - dest.offset)) == 0)
    copier->reserved_end = end;
  else if (errno == ENOSPC || errno == EDQUOT)
    return failed(error, source, dest) == STEP_DONE;
  else if (errno != EINTR) /* after a signal it is the progress function that decides */
    copier->reserves = false;
  return true;
}

static bool
copy_dense(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length, GError **error)
{
  if (copier->options.method != ONNXL_COPY_REFLINK && !reserve(copier, source, dest, length, error))
    return false;
  if (copier->options.method == ONNXL_COPY_AUTO)
    return copy_best(copier, source, dest, length, error);
  return copy_forced(copier, source, dest, length, error);
}

/* Finds the next data at or after offset and their end, within limit. False: only a hole is left. */
static bool
next_data(int fd, uint64_t offset, uint64_t limit, uint64_t *ret_start, uint64_t *ret_end)
{
  off_t start = lseek(fd, (off_t)offset, SEEK_DATA);

  if (start < 0 && errno == ENXIO) {
    /* Behind the last data: a hole when the file reaches that far, else copying has to fail. */
    struct stat st;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size >= limit)
      return false;
  }
  if (start < 0)
    start = (off_t)offset;
  if ((uint64_t)start >= limit)
    return false;
  off_t end = lseek(fd, start, SEEK_HOLE);
  *ret_start = (uint64_t)start;
  *ret_end = end > start ? MIN((uint64_t)end, limit) : limit;
  return true;
}

static bool
copy_sparse(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length, GError **error)
{
  uint64_t limit = source.offset + length;

  while (length > 0) {
    uint64_t start = limit, end = limit;
    bool more = next_data(source.fd, source.offset, limit, &start, &end);
    uint64_t hole = start - source.offset;
    copier->stats.holes += hole;
    move_on(&source, &dest, &length, hole);
    if (hole > 0 && !advance(copier, dest, hole, error))
      return false;
    if (!more)
      break;
    if (!copy_dense(copier, source, dest, end - start, error))
      return false;
    move_on(&source, &dest, &length, end - start);
  }
  return true;
}

bool
onnxl_copy_range(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length, GError **error)
{
  if (length == 0)
    return true;
  if (!choose_pair(copier, source, dest, error))
    return false;
  if (copier->options.method == ONNXL_COPY_AUTO && !copier->refused[ONNXL_COPY_REFLINK] && length >= copier->block &&
      source.offset % copier->block == 0 && dest.offset % copier->block == 0) {
    /* Shared blocks keep the holes of the source. */
    Step step = step_reflink(copier, &source, &dest, &length, error);
    copier->refused[ONNXL_COPY_REFLINK] = step == STEP_REFUSED;
    if (step == STEP_FAILED)
      return false;
  }
  if (copier->sparse && copier->options.method != ONNXL_COPY_REFLINK)
    return copy_sparse(copier, source, dest, length, error);
  return copy_dense(copier, source, dest, length, error);
}

bool
onnxl_copy_bytes(OnnxlCopier *copier, const void *bytes, size_t size, OnnxlCopyPlace dest, GError **error)
{
  const char *at = bytes;

  while (size > 0) {
    size_t n = (size_t)MIN(size, copier->options.chunk_size);
    if (!write_all(at, n, dest, error))
      return false;
    copier->stats.by_method[ONNXL_COPY_AUTO] += n;
    at += n;
    size -= n;
    dest.offset += n;
    if (!advance(copier, dest, n, error))
      return false;
  }
  return true;
}

bool
onnxl_copy_read(OnnxlCopyPlace source, void *buffer, size_t size, GError **error)
{
  char *at = buffer;

  while (size > 0) {
    ssize_t n = read_some(source, at, size);
    if (n < 0)
      return onnxl_error_errno(error, errno, "cannot read '%s'", source.name);
    if (n == 0)
      return too_short(source, size, error);
    at += n;
    size -= (size_t)n;
    source.offset += (uint64_t)n;
  }
  return true;
}
