#include "batch-list.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"

/* Bytes of a line, its break included. */
enum { MAX_LINE = 1 << 20 };

bool
batch_list_open(BatchList *list, const char *path, GError **error)
{
  bool standard = strcmp(path, "-") == 0;
  *list = (BatchList){ .name = standard ? "<stdin>" : path };
  if (*path == '\0')
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--batch: the name of the list is empty");
  list->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (list->fd < 0)
    return onnxl_error_errno(error, errno, "cannot open %s", path);
  list->buffer = g_malloc(MAX_LINE);
  return true;
}

void
batch_list_close(BatchList *list)
{
  if (list->fd > STDERR_FILENO)
    close(list->fd);
  g_clear_pointer(&list->buffer, g_free);
}

uint64_t
batch_list_count(const BatchList *list)
{
  struct stat status;
  char block[16384];
  uint64_t count = 0;
  ssize_t n;
  if (fstat(list->fd, &status) < 0 || !S_ISREG(status.st_mode))
    return 0;
  for (off_t at = lseek(list->fd, 0, SEEK_CUR); (n = pread(list->fd, block, sizeof block, at)) > 0; at += n)
    for (ssize_t i = 0; i < n; i++)
      count += block[i] == '\n';
  return count;
}

/* Reads until there is a whole line, the buffer is full or the list ends. */
static bool
fill_buffer(BatchList *list, GError **error)
{
  while (!list->at_end && !memchr(list->buffer + list->start, '\n', list->end - list->start)) {
    if (list->start > 0) {
      memmove(list->buffer, list->buffer + list->start, list->end - list->start);
      list->end -= list->start;
      list->start = 0;
    }
    if (list->end == MAX_LINE)
      return true;
    ssize_t n = read(list->fd, list->buffer + list->end, MAX_LINE - list->end);
    if (n < 0 && errno != EINTR)
      return onnxl_error_errno(error, errno, "cannot read %s", list->name);
    list->at_end = n == 0;
    list->end += n > 0 ? (size_t)n : 0;
  }
  return true;
}

/* The next line without its break, in the buffer. *ret_cut: its rest was left out. */
static bool
next_line(BatchList *list, OnnxlStr *ret_line, bool *ret_cut, bool *ret_more, GError **error)
{
  *ret_cut = false;
  *ret_line = ONNXL_STR("");
  for (;;) {
    if (!fill_buffer(list, error))
      return false;
    size_t size = list->end - list->start;
    const char *text = list->buffer + list->start, *end = memchr(text, '\n', size);
    *ret_more = end || size > 0 || *ret_cut;
    if (end || list->at_end) {
      *ret_line = onnxl_str_n(text, end ? (size_t)(end - text) : size);
      list->start = end ? list->start + ret_line->size + 1 : list->end;
      list->line++;
      return true;
    }
    *ret_cut = true;
    list->start = list->end;
  }
}

static bool
says_something(OnnxlStr line)
{
  size_t i = 0;
  while (i < line.size && g_ascii_isspace(line.data[i]))
    i++;
  return i < line.size && line.data[i] != '#';
}

/* A key names a folder, so it has only what every file system takes and what does not hide it. */
static char *
key_fault(const char *key)
{
  enum { MAX_KEY = 200 };
  if (strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") != strlen(key) || *key == '.' ||
      *key == '\0')
    return g_strdup_printf("the key \"%s\" may only have letters, digits, '_', '-' and, not at the front, '.'", key);
  return strlen(key) > MAX_KEY ? g_strdup_printf("the key has %zu bytes when %d are allowed", strlen(key), MAX_KEY)
                               : NULL;
}

static void
parse_line(OnnxlStr line, bool cut, BatchEntry *entry)
{
  GError *failed = NULL;
  g_autofree char *text = g_strndup(line.data, line.size);
  *entry = (BatchEntry){ 0 };
  if (cut)
    entry->fault = g_strdup_printf("the line has more than %d bytes", MAX_LINE);
  else if (strlen(text) != line.size)
    entry->fault = g_strdup("the line has a NUL character");
  else if (!g_shell_parse_argv(text, NULL, &entry->words, &failed)) {
    entry->fault = g_strdup("a quotation mark is not closed, or a backslash stands at the end");
    g_error_free(failed);
  } else if ((entry->fault = key_fault(entry->words[0])))
    g_clear_pointer(&entry->words, g_strfreev);
}

bool
batch_list_next(BatchList *list, BatchEntry *entry, bool *ret_more, GError **error)
{
  OnnxlStr line;
  bool cut;
  do {
    if (!next_line(list, &line, &cut, ret_more, error))
      return false;
  } while (*ret_more && !cut && !says_something(line));
  if (*ret_more) {
    list->n_entries++;
    parse_line(line, cut, entry);
  }
  return true;
}

void
batch_entry_clear(BatchEntry *entry)
{
  g_strfreev(entry->words);
  g_free(entry->fault);
  *entry = (BatchEntry){ 0 };
}
