#include "support/diag.h"
#include "support/sort.h"

#include <stdarg.h>
#include <stdio.h>

/* Bounds on what a hostile input can make us keep: memory, message length, looked-up source lines. */
enum { SINK_BUDGET = 64 << 20, MESSAGE_MAX = 4096, SOURCE_FINDINGS = 200, SOURCE_BEFORE = 512, SOURCE_AFTER = 512 };
enum { DEFAULT_MAX_ERRORS = 20 };

typedef enum Mode { MODE_DEFAULT, MODE_OFF, MODE_ERROR, MODE_NOT_ERROR } Mode;

struct OnnxlDiagSink {
  OnnxlArena *arena;
  const char *file;
  OnnxlDiag *diags;
  size_t count;
  size_t capacity;
  uint32_t max_errors;
  uint32_t errors;
  uint32_t warnings;
  uint32_t sources; /* findings with a source line so far */
  bool kept;        /* the finding before was kept, so its notes are too */
  bool all_errors;  /* -Werror */
  bool optional;    /* errors can be switched off too */
  uint8_t modes[ONNXL_N_DIAGS];
  OnnxlStr text;
  uint32_t text_line; /* a line of text found before, and where it starts: findings mostly come in order */
  size_t text_offset;
};

static const struct {
  const char *text;
  OnnxlSeverity severity;
  const char *summary;
} ids[ONNXL_N_DIAGS] = {
#define DIAG(identifier, text, severity, summary) { text, severity, summary },
#include "support/diag-ids.def"
#undef DIAG
};

const char *
onnxl_diag_id_text(OnnxlDiagId id)
{
  return ids[id].text;
}

const char *
onnxl_diag_id_summary(OnnxlDiagId id)
{
  return ids[id].summary;
}

OnnxlSeverity
onnxl_diag_id_severity(OnnxlDiagId id)
{
  return ids[id].severity;
}

OnnxlDiagSink *
onnxl_diag_sink_new(const char *file)
{
  OnnxlDiagSink *sink = g_new0(OnnxlDiagSink, 1);
  sink->arena = onnxl_arena_new(SINK_BUDGET);
  sink->max_errors = DEFAULT_MAX_ERRORS;
  onnxl_diag_sink_set_file(sink, file);
  return sink;
}

void
onnxl_diag_sink_free(OnnxlDiagSink *sink)
{
  if (!sink)
    return;
  onnxl_arena_free(sink->arena);
  g_free(sink);
}

void
onnxl_diag_sink_set_file(OnnxlDiagSink *sink, const char *file)
{
  sink->file = onnxl_arena_copy(sink->arena, onnxl_str(file)).data;
}

void
onnxl_diag_sink_set_text(OnnxlDiagSink *sink, OnnxlStr text)
{
  sink->text = text;
  sink->text_line = 1;
  sink->text_offset = 0;
}

void
onnxl_diag_sink_set_max_errors(OnnxlDiagSink *sink, uint32_t n)
{
  sink->max_errors = n;
}

static bool
set_mode(OnnxlDiagSink *sink, const char *text, Mode mode)
{
  bool found = false;
  for (int i = 0; i < ONNXL_N_DIAGS; i++) {
    if (strcmp(ids[i].text, text) == 0) {
      sink->modes[i] = (uint8_t)mode;
      found = true;
    }
  }
  return found;
}

void
onnxl_diag_sink_set_optional(OnnxlDiagSink *sink, bool optional)
{
  sink->optional = optional;
}

bool
onnxl_diag_sink_configure(OnnxlDiagSink *sink, const char *option)
{
  if (strcmp(option, "error") == 0 || strcmp(option, "no-error") == 0) {
    sink->all_errors = option[0] == 'e';
    return true;
  }
  if (g_str_has_prefix(option, "error="))
    return set_mode(sink, option + strlen("error="), MODE_ERROR);
  if (g_str_has_prefix(option, "no-error="))
    return set_mode(sink, option + strlen("no-error="), MODE_NOT_ERROR);
  /* An id may itself start with "no-", as no-bool does. */
  if (set_mode(sink, option, MODE_DEFAULT))
    return true;
  return g_str_has_prefix(option, "no-") && set_mode(sink, option + strlen("no-"), MODE_OFF);
}

/* Finds where a line of the text starts. */
static bool
find_line(OnnxlDiagSink *sink, uint32_t line, size_t *ret_offset)
{
  if (line < sink->text_line) {
    sink->text_line = 1;
    sink->text_offset = 0;
  }
  while (sink->text_line < line) {
    const char *from = sink->text.data + sink->text_offset;
    const char *end = memchr(from, '\n', sink->text.size - sink->text_offset);
    if (!end)
      return false;
    sink->text_offset = (size_t)(end + 1 - sink->text.data);
    sink->text_line++;
  }
  *ret_offset = sink->text_offset;
  return true;
}

/* Copies the source line, of a very long one the part around the column. */
static void
add_source(OnnxlDiagSink *sink, OnnxlDiag *diag)
{
  const OnnxlLocation *where = &diag->location;
  size_t start;
  if (where->line == 0 || where->column == 0 || !sink->text.data || sink->sources >= SOURCE_FINDINGS ||
      !find_line(sink, where->line, &start))
    return;
  const char *line = sink->text.data + start;
  size_t left = sink->text.size - start;
  size_t skip = where->column - 1 > SOURCE_BEFORE ? where->column - 1 - SOURCE_BEFORE : 0;
  if (skip > left)
    return;
  const char *end = memchr(line, '\n', left);
  size_t length = end ? (size_t)(end - line) : left;
  if (skip > length)
    return;
  size_t wanted = where->column - 1 - skip + MIN((size_t)where->length, (size_t)SOURCE_AFTER) + SOURCE_AFTER;
  OnnxlStr copy = onnxl_arena_copy(sink->arena, onnxl_str_n(line + skip, MIN(length - skip, wanted)));
  diag->source = copy.data;
  diag->source_size = copy.size;
  diag->source_column = (uint32_t)skip + 1;
  sink->sources++;
}

static void
add(OnnxlDiagSink *sink, OnnxlDiagId id, OnnxlSeverity severity, const OnnxlLocation *where, const char *format,
    va_list args)
{
  char message[MESSAGE_MAX];
  sink->kept =
    !onnxl_arena_exhausted(sink->arena) && ONNXL_GROW(sink->arena, &sink->diags, sink->count, &sink->capacity);
  if (!sink->kept)
    return;
  int length = vsnprintf(message, sizeof message, format, args);
  if (length >= (int)sizeof message) {
    /* Cut before a character, not inside. */
    size_t cut = sizeof message - 1 - strlen("…");
    while (cut > 0 && ((unsigned char)message[cut] & 0xc0) == 0x80)
      cut--;
    strcpy(message + cut, "…");
  }
  OnnxlDiag diag = { .id = id, .severity = severity };
  if (where)
    diag.location = *where;
  diag.location.file = where && where->file ? onnxl_arena_copy(sink->arena, onnxl_str(where->file)).data : sink->file;
  diag.location.path = where ? onnxl_arena_copy(sink->arena, onnxl_str(where->path)).data : NULL;
  diag.message = onnxl_arena_copy(sink->arena, onnxl_str(length < 0 ? format : message)).data;
  add_source(sink, &diag);
  sink->kept = diag.message != NULL;
  if (sink->kept)
    sink->diags[sink->count++] = diag;
}

void
onnxl_diag(OnnxlDiagSink *sink, OnnxlDiagId id, const OnnxlLocation *where, const char *format, ...)
{
  OnnxlSeverity severity = ids[id].severity;
  Mode mode = sink->modes[id];
  /* As a rule an error cannot be switched off: a function that reported one returns false. */
  sink->kept = mode != MODE_OFF || (severity == ONNXL_SEVERITY_ERROR && !sink->optional);
  if (!sink->kept)
    return;
  if (mode == MODE_ERROR || (sink->all_errors && severity == ONNXL_SEVERITY_WARNING && mode != MODE_NOT_ERROR))
    severity = ONNXL_SEVERITY_ERROR;
  if (severity == ONNXL_SEVERITY_ERROR) {
    sink->errors += sink->errors < UINT32_MAX;
    sink->kept = sink->max_errors == 0 || sink->errors <= sink->max_errors;
  } else if (severity == ONNXL_SEVERITY_WARNING) {
    sink->warnings += sink->warnings < UINT32_MAX;
  }
  if (!sink->kept)
    return;
  va_list args;
  va_start(args, format);
  add(sink, id, severity, where, format, args);
  va_end(args);
}

void
onnxl_diag_note(OnnxlDiagSink *sink, const OnnxlLocation *where, const char *format, ...)
{
  if (!sink->kept || sink->count == 0)
    return;
  va_list args;
  va_start(args, format);
  add(sink, sink->diags[sink->count - 1].id, ONNXL_SEVERITY_NOTE, where, format, args);
  va_end(args);
}

uint32_t
onnxl_diag_errors(const OnnxlDiagSink *sink)
{
  return sink->errors;
}

uint32_t
onnxl_diag_warnings(const OnnxlDiagSink *sink)
{
  return sink->warnings;
}

size_t
onnxl_diag_count(const OnnxlDiagSink *sink)
{
  return sink->count;
}

const OnnxlDiag *
onnxl_diag_get(const OnnxlDiagSink *sink, size_t i)
{
  return &sink->diags[i];
}

/* A finding with the notes behind it. */
typedef struct Group {
  const OnnxlDiag *first;
  size_t size;
  size_t order;
} Group;

static int
compare_groups(const void *a, const void *b)
{
  const Group *x = a, *y = b;
  const OnnxlLocation *p = &x->first->location, *q = &y->first->location;
  if (p->line != q->line)
    return p->line < q->line ? -1 : 1;
  if (p->column != q->column)
    return p->column < q->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void
onnxl_diag_sort(OnnxlDiagSink *sink)
{
  if (sink->count == 0)
    return;
  /* Text findings are sorted among the positions they hold, the others stay where they are. */
  OnnxlDiag *old = g_memdup2(sink->diags, sink->count * sizeof *old);
  Group *groups = g_new(Group, sink->count), *texts = g_new(Group, sink->count);
  size_t n_groups = 0, n_texts = 0;
  for (size_t i = 0; i < sink->count; i++) {
    /* A note that was reported as a finding of its own has an id whose severity is note. */
    if (i > 0 && old[i].severity == ONNXL_SEVERITY_NOTE && ids[old[i].id].severity != ONNXL_SEVERITY_NOTE)
      groups[n_groups - 1].size++;
    else
      groups[n_groups++] = (Group){ &old[i], 1, i };
  }
  for (size_t i = 0; i < n_groups; i++)
    if (groups[i].first->location.line > 0)
      texts[n_texts++] = groups[i];
  onnxl_sort(texts, n_texts, sizeof *texts, compare_groups);
  size_t at = 0, next_text = 0;
  for (size_t i = 0; i < n_groups; i++) {
    const Group *group = groups[i].first->location.line > 0 ? &texts[next_text++] : &groups[i];
    memcpy(sink->diags + at, group->first, group->size * sizeof *old);
    at += group->size;
  }
  g_free(texts);
  g_free(groups);
  g_free(old);
}
