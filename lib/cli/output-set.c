#include "cli/output-set.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/folder-lock-internal.h"
#include "cli/output-file-internal.h"
#include "cli/temporary-internal.h"
#include "support/error.h"
#include "support/file.h"

typedef struct Companion {
  OnnxlOutputFile file;
  char *interim; /* the name that the new file has while the old one still has its own; NULL when that is not needed */
  int slot;      /* of the interim name, see onnxl_temporary_remember() */
} Companion;

/* What putting a file in its place did, so that it can be undone. */
typedef enum Placing {
  PLACED,    /* there was no file */
  EXCHANGED, /* the old file has the temporary name now */
} Placing;

typedef struct Move {
  char *temporary; /* owned */
  const char *path;
  Placing placing;
} Move;

struct OnnxlOutputSet {
  OnnxlOutputFile main;
  OnnxlOutputFile bridge; /* the main file with interim names */
  GPtrArray *companions;  /* Companion */
  GArray *moves;          /* Move, as made */
  bool no_links;          /* a companion could not be given an interim name */
  OnnxlWaiting *waiting;  /* or NULL */
  void *waiting_data;
};

static void
free_companion(gpointer data)
{
  Companion *companion = data;
  if (companion->interim)
    unlink(companion->interim);
  onnxl_temporary_forget(companion->slot);
  g_free(companion->interim);
  onnxl_output_file_abort(&companion->file);
  g_free(companion);
}

static void
clear_move(gpointer data)
{
  g_free(((Move *)data)->temporary);
}

OnnxlOutputSet *
onnxl_output_set_new(const char *path, int flags, GError **error)
{
  OnnxlOutputSet *set = g_new0(OnnxlOutputSet, 1);
  if (!onnxl_output_file_open(&set->main, path, flags | ONNXL_OUTPUT_REPLACE_LINK, error)) {
    g_free(set);
    return NULL;
  }
  set->bridge = (OnnxlOutputFile){ .fd = -1, .slot = -1 };
  set->companions = g_ptr_array_new_with_free_func(free_companion);
  set->moves = g_array_new(FALSE, FALSE, sizeof(Move));
  g_array_set_clear_func(set->moves, clear_move);
  return set;
}

void
onnxl_output_set_free(OnnxlOutputSet *set)
{
  if (!set)
    return;
  onnxl_output_file_abort(&set->main);
  onnxl_output_file_abort(&set->bridge);
  g_ptr_array_free(set->companions, TRUE);
  g_array_free(set->moves, TRUE);
  g_free(set);
}

/* Companions differ from each other by the names that the caller makes; the main file's is the user's choice too. */
static bool
is_taken(const OnnxlOutputSet *set, const char *path)
{
  return set->main.path && onnxl_path_same_entry(set->main.path, path);
}

int
onnxl_output_set_add(OnnxlOutputSet *set, const char *path, GError **error)
{
  OnnxlOutputFile file;
  struct stat status;
  int flags = (set->main.flags & ONNXL_OUTPUT_NO_SYNC) | ONNXL_OUTPUT_REPLACE_LINK;
  /* Before it is opened: that of a FIFO would wait for a reader. */
  bool regular = stat(path, &status) < 0 || S_ISREG(status.st_mode);
  if (!regular || is_taken(set, path)) {
    onnxl_fail(error, regular ? ONNXL_ERROR_USAGE : ONNXL_ERROR_IO, "cannot write %s: %s", path,
               regular                   ? "another output has this name"
               : S_ISDIR(status.st_mode) ? "it is a directory"
                                         : "it is not a regular file");
    return -1;
  }
  if (!onnxl_output_file_open(&file, path, flags, error))
    return -1;
  Companion *companion = g_new0(Companion, 1);
  companion->file = file;
  companion->slot = -1;
  g_ptr_array_add(set->companions, companion);
  return file.fd;
}

void
onnxl_output_set_on_wait(OnnxlOutputSet *set, OnnxlWaiting *waiting, void *data)
{
  set->waiting = waiting;
  set->waiting_data = data;
}

/* What cannot be looked at is handled as if it were there. */
static bool
exists(const char *path)
{
  struct stat status;
  return lstat(path, &status) == 0 || errno != ENOENT;
}

/* Gives the companion a second name next to its own, which a main file can refer to. False: there are no hard links. */
static bool
name_interim(Companion *companion)
{
  OnnxlOutputFile *file = &companion->file;
  for (int i = 1; i <= 100; i++) {
    char *name = i == 1 ? g_strdup_printf("%s.new", file->path) : g_strdup_printf("%s.new%d", file->path, i);
    companion->slot = exists(name) ? -1 : onnxl_temporary_remember(name);
    if (linkat(AT_FDCWD, file->temporary, AT_FDCWD, name, 0) == 0) {
      companion->interim = name;
      return true;
    }
    int saved_errno = errno;
    onnxl_temporary_forget(companion->slot);
    companion->slot = -1;
    g_free(name);
    if (saved_errno != EEXIST)
      return false;
  }
  return false;
}

static bool
finish_companions(OnnxlOutputSet *set, GError **error)
{
  for (guint i = 0; i < set->companions->len; i++)
    if (!onnxl_output_file_finish(&((Companion *)g_ptr_array_index(set->companions, i))->file, error))
      return false;
  return true;
}

static bool
name_companions(OnnxlOutputSet *set, GError **error)
{
  bool main_exists = set->main.path && exists(set->main.path);
  for (guint i = 0; i < set->companions->len; i++) {
    Companion *companion = g_ptr_array_index(set->companions, i);
    if (!onnxl_output_file_name(&companion->file, error))
      return false;
    if (main_exists && !set->no_links && exists(companion->file.path))
      set->no_links = !name_interim(companion);
  }
  return true;
}

static bool
write_main_file(OnnxlOutputSet *set, OnnxlOutputFile *file, bool interim, OnnxlWriteMain write_main, void *data,
                GError **error)
{
  const char **paths = g_new0(const char *, set->companions->len + 1);
  for (guint i = 0; i < set->companions->len; i++) {
    Companion *companion = g_ptr_array_index(set->companions, i);
    paths[i] = interim && companion->interim ? companion->interim : companion->file.path;
  }
  bool ok = write_main(data, paths, &file->out, error) && onnxl_output_file_finish(file, error) &&
            (!file->path || onnxl_output_file_name(file, error));
  g_free(paths);
  return ok;
}

static bool
needs_bridge(const OnnxlOutputSet *set)
{
  for (guint i = 0; i < set->companions->len; i++)
    if (((Companion *)g_ptr_array_index(set->companions, i))->interim)
      return true;
  return false;
}

/* Where files cannot be exchanged, gives the old one another name first: a second one, or where there are no links,
 * another one, so that it is missing for a moment. The move's temporary name is then that one. */
static bool
replace_with_backup(Move *move)
{
  char *backup = onnxl_temporary_name(move->path);
  bool linked = link(move->path, backup) == 0;
  bool kept = linked || rename(move->path, backup) == 0;
  bool absent = !kept && errno == ENOENT;
  bool ok = (kept || absent) && rename(move->temporary, move->path) == 0;
  int saved_errno = errno;
  if (kept && !ok && linked)
    unlink(backup);
  else if (kept && !ok)
    (void)!rename(backup, move->path);
  if (kept && ok) {
    g_free(move->temporary);
    move->temporary = g_steal_pointer(&backup);
  }
  if (absent)
    move->placing = PLACED;
  g_free(backup);
  errno = saved_errno;
  return ok;
}

/* Puts the temporary file of file in its place. The name is the move's from then on. */
static bool
put_in_place(OnnxlOutputSet *set, OnnxlOutputFile *file, GError **error)
{
  Move move = { file->temporary, file->path, EXCHANGED };
  bool ok = renameat2(AT_FDCWD, move.temporary, AT_FDCWD, move.path, RENAME_EXCHANGE) == 0;
  if (!ok && errno == ENOENT) {
    move.placing = PLACED;
    ok = rename(move.temporary, move.path) == 0;
  } else if (!ok && (errno == EINVAL || errno == ENOSYS)) {
    ok = replace_with_backup(&move);
  }
  file->temporary = move.temporary;
  if (!ok)
    return onnxl_error_errno(error, errno, "cannot write %s", file->name);
  file->temporary = NULL;
  onnxl_temporary_forget(file->slot);
  file->slot = -1;
  g_array_append_val(set->moves, move);
  return (file->flags & ONNXL_OUTPUT_NO_SYNC) || onnxl_output_sync_folder(move.path, error);
}

/* Takes the old main file away while its companions change: no main file is better than one with companions of another.
 */
static bool
set_aside(OnnxlOutputSet *set, GError **error)
{
  Move move = { onnxl_temporary_name(set->main.path), set->main.path, EXCHANGED };
  if (rename(move.path, move.temporary) < 0) {
    g_free(move.temporary);
    return onnxl_error_errno(error, errno, "cannot write %s", set->main.name);
  }
  g_array_append_val(set->moves, move);
  return (set->main.flags & ONNXL_OUTPUT_NO_SYNC) || onnxl_output_sync_folder(move.path, error);
}

static bool
put_companions_in_place(OnnxlOutputSet *set, bool interim, GError **error)
{
  for (guint i = 0; i < set->companions->len; i++) {
    Companion *companion = g_ptr_array_index(set->companions, i);
    if ((companion->interim != NULL) == interim && !put_in_place(set, &companion->file, error))
      return false;
  }
  return true;
}

static void
undo(OnnxlOutputSet *set, GError **error)
{
  for (guint i = set->moves->len; i-- > 0;) {
    Move *move = &g_array_index(set->moves, Move, i);
    if (move->placing == PLACED)
      unlink(move->path);
    else if (rename(move->temporary, move->path) < 0)
      g_prefix_error(error, "%s could not be put back and is now %s: ", move->path, move->temporary);
  }
}

static void
remove_old_files(OnnxlOutputSet *set)
{
  for (guint i = 0; i < set->moves->len; i++) {
    const Move *move = &g_array_index(set->moves, Move, i);
    if (move->placing == EXCHANGED)
      unlink(move->temporary);
  }
}

/* All files are complete and on disk, so this takes a moment only; signals wait until the state is clean again. */
static bool
publish(OnnxlOutputSet *set, GError **error)
{
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGHUP);
  sigprocmask(SIG_BLOCK, &ends, &before);
  bool ok = (!set->no_links || set_aside(set, error)) && put_companions_in_place(set, false, error) &&
            (!set->bridge.path || put_in_place(set, &set->bridge, error)) &&
            put_companions_in_place(set, true, error) && (!set->main.path || put_in_place(set, &set->main, error));
  if (ok)
    remove_old_files(set);
  else
    undo(set, error);
  /* The interim and the remaining temporary names. */
  g_ptr_array_set_size(set->companions, 0);
  onnxl_output_file_abort(&set->bridge);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return ok;
}

static bool
name_and_publish(OnnxlOutputSet *set, OnnxlWriteMain write_main, void *data, GError **error)
{
  if (!name_companions(set, error))
    return false;
  if (needs_bridge(set)) {
    if (!onnxl_output_file_open(&set->bridge, set->main.path, set->main.flags, error) ||
        !write_main_file(set, &set->bridge, true, write_main, data, error))
      return false;
  }
  return write_main_file(set, &set->main, false, write_main, data, error) && publish(set, error);
}

bool
onnxl_output_set_commit(OnnxlOutputSet *set, OnnxlWriteMain write_main, void *data, GError **error)
{
  /* What takes long comes first. */
  if (!finish_companions(set, error))
    return false;
  int lock = -1;
  bool alone = !set->main.path || set->companions->len == 0 ||
               onnxl_folder_lock(set->main.path, set->waiting, set->waiting_data, &lock, error);
  bool ok = alone && name_and_publish(set, write_main, data, error);
  if (lock >= 0)
    close(lock);
  return ok;
}
