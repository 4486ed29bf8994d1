/* Texts: joining, splitting, normalizing. */
#include "runtime/loop.h"
#include "support/sort.h"

static bool
run_string_concat(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *inputs[2] = { onnxl_ctx_input(context, 0), onnxl_ctx_input(context, 1) };
  int64_t dims[ONNXL_MAX_RANK];
  uint32_t rank;
  OnnxlLoop loop;
  if (!onnxl_ctx_broadcast(context, inputs, 2, &rank, dims, error))
    return false;
  OnnxlValue *z = onnxl_ctx_output(context, 0, ONNXL_TYPE_STRING, rank, dims, error);
  if (!z || z->count == 0)
    return z != NULL;
  onnxl_loop_init(&loop, dims, rank);
  onnxl_loop_add(&loop, inputs[0]);
  onnxl_loop_add(&loop, inputs[1]);
  onnxl_loop_finish(&loop);
  const OnnxlStr *x = inputs[0]->data, *y = inputs[1]->data;
  OnnxlStr *to = z->data;
  GString *joined = g_string_new(NULL);
  bool good = true;
  for (bool more = onnxl_loop_start(&loop); good && more; more = onnxl_loop_next(&loop))
    for (int64_t i = 0; good && i < onnxl_loop_row(&loop); i++) {
      OnnxlStr a = x[loop.offsets[0] + i * onnxl_loop_step(&loop, 0)];
      OnnxlStr b = y[loop.offsets[1] + i * onnxl_loop_step(&loop, 1)];
      g_string_truncate(joined, 0);
      g_string_append_len(joined, a.data, (gssize)a.size);
      g_string_append_len(joined, b.data, (gssize)b.size);
      good = onnxl_allocator_text(onnxl_ctx_allocator(context), onnxl_str_n(joined->str, joined->len), to++, error);
    }
  g_string_free(joined, TRUE);
  return good;
}
ONNXL_KERNEL(string_concat, EXACT);

/* --- StringSplit --- */

/* Bytes of the white space at the start of text, one character; 0 = there is none. Invalid UTF-8 is no space. */
static size_t
space_size(OnnxlStr text)
{
  gunichar c = text.size == 0 ? 0 : g_utf8_get_char_validated(text.data, (gssize)text.size);
  if (c == 0 || c >= (gunichar)-2)
    return 0;
  bool is_space = g_unichar_isspace(c) || c == '\v' || (c >= 0x1c && c <= 0x1f) || c == 0x85;
  return is_space ? (size_t)g_unichar_to_utf8(c, NULL) : 0;
}

static OnnxlStr
skip(OnnxlStr text, size_t n)
{
  return onnxl_str_n(text.data + n, text.size - n);
}

static OnnxlStr
skip_spaces(OnnxlStr text)
{
  for (size_t n = space_size(text); n > 0; n = space_size(text))
    text = skip(text, n);
  return text;
}

/* Where the first delimiter starts and how long it is; white space if delimiter is empty. Without one: text.size. */
static size_t
find_delimiter(OnnxlStr text, OnnxlStr delimiter, size_t *ret_size)
{
  *ret_size = delimiter.size;
  if (text.size == 0)
    return 0;
  if (delimiter.size > 0) {
    const char *found = memmem(text.data, text.size, delimiter.data, delimiter.size);
    return found ? (size_t)(found - text.data) : text.size;
  }
  for (size_t at = 0; at < text.size; at++)
    if ((*ret_size = space_size(skip(text, at))) > 0)
      return at;
  return text.size;
}

/* White space that nothing else follows. */
static OnnxlStr
trim_end(OnnxlStr text)
{
  size_t end = 0;
  for (size_t at = 0; at < text.size;) {
    size_t n = space_size(skip(text, at));
    at += n > 0 ? n : 1;
    end = n > 0 ? end : at;
  }
  return onnxl_str_n(text.data, end);
}

/* The parts of one text, after at most max_splits splits; they lie inside the text. parts may be NULL. Returns: their
 * number. */
static int64_t
split_text(OnnxlStr text, OnnxlStr delimiter, int64_t max_splits, OnnxlStr *parts)
{
  bool spaces = delimiter.size == 0;
  int64_t n = 0;
  if (spaces) {
    text = skip_spaces(trim_end(text));
    if (text.size == 0)
      return 0;
  }
  for (;;) {
    size_t size = 0, at = n == max_splits ? text.size : find_delimiter(text, delimiter, &size);
    if (parts)
      parts[n] = onnxl_str_n(text.data, at);
    n++;
    if (at == text.size)
      return n;
    text = skip(text, at + size);
    text = spaces ? skip_spaces(text) : text;
  }
}

static bool
run_string_split(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  const OnnxlStr *texts = x->data;
  OnnxlStr delimiter = onnxl_ctx_string(context, "delimiter");
  int64_t max_splits = onnxl_ctx_attr(context, "maxsplit") ? onnxl_ctx_int(context, "maxsplit") : -1;
  int64_t dims[ONNXL_MAX_RANK + 1];
  OnnxlValue *lengths = onnxl_ctx_output(context, 1, ONNXL_TYPE_INT64, x->rank, x->dims, error);
  if (!lengths)
    return false;
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  int64_t *width = &dims[x->rank];
  *width = 0;
  for (int64_t i = 0; i < x->count; i++) {
    int64_t n = split_text(texts[i], delimiter, max_splits, NULL);
    ((int64_t *)lengths->data)[i] = n;
    *width = MAX(*width, n);
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_STRING, x->rank + 1, dims, error);
  for (int64_t i = 0; y && i < x->count; i++)
    split_text(texts[i], delimiter, max_splits, (OnnxlStr *)y->data + i * *width);
  return y != NULL;
}
ONNXL_KERNEL(string_split, EXACT);

/* --- StringNormalizer --- */

typedef enum CaseChange { CASE_NONE, CASE_LOWER, CASE_UPPER } CaseChange;

/* Character by character, the same in every locale. Bytes that are no UTF-8 stay. */
static void
change_case(OnnxlStr text, CaseChange change, GString *to)
{
  g_string_truncate(to, 0);
  while (text.size > 0) {
    gunichar c = g_utf8_get_char_validated(text.data, (gssize)text.size);
    /* 0 is what a NUL inside the text gives, or one that follows a cut character. */
    if (c == 0 || c >= (gunichar)-2 || change == CASE_NONE) {
      g_string_append_c(to, text.data[0]);
      text = skip(text, 1);
      continue;
    }
    g_string_append_unichar(to, change == CASE_LOWER ? g_unichar_tolower(c) : g_unichar_toupper(c));
    text = skip(text, (size_t)g_unichar_to_utf8(c, NULL));
  }
}

static int
compare_texts(const void *a, const void *b)
{
  return onnxl_str_compare(*(const OnnxlStr *)a, *(const OnnxlStr *)b);
}

/* The stop words in the form that words are compared in, sorted. */
static OnnxlStr *
stop_words(OnnxlKernelContext *context, OnnxlStrList list, CaseChange fold, GString *room, GError **error)
{
  OnnxlStr *words = onnxl_ctx_scratch(context, list.count, sizeof *words, error);
  for (size_t i = 0; words && i < list.count; i++) {
    change_case(list.items[i], fold, room);
    if (!onnxl_allocator_text(onnxl_ctx_allocator(context), onnxl_str_n(room->str, room->len), &words[i], error))
      return NULL;
  }
  if (words && list.count > 0)
    onnxl_sort(words, list.count, sizeof *words, compare_texts);
  return words;
}

/* Writes the words that stay; *ret_n of them. */
static bool
filter_words(OnnxlKernelContext *context, CaseChange change, GString *room, OnnxlStr *kept, int64_t *ret_n,
             GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlStrList list = onnxl_ctx_strings(context, "stopwords");
  CaseChange fold = onnxl_ctx_int(context, "is_case_sensitive") != 0 ? CASE_NONE : CASE_LOWER;
  OnnxlStr *stops = stop_words(context, list, fold, room, error);
  if (!stops)
    return false;
  *ret_n = 0;
  for (int64_t i = 0; i < x->count; i++) {
    OnnxlStr word = ((const OnnxlStr *)x->data)[i];
    change_case(word, fold, room);
    OnnxlStr folded = onnxl_str_n(room->str, room->len);
    if (list.count > 0 && bsearch(&folded, stops, list.count, sizeof *stops, compare_texts))
      continue;
    change_case(word, change, room);
    if (!onnxl_allocator_text(onnxl_ctx_allocator(context), onnxl_str_n(room->str, room->len), &kept[(*ret_n)++],
                              error))
      return false;
  }
  return true;
}

static bool
run_string_normalizer(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlStr action = onnxl_ctx_string(context, "case_change_action");
  CaseChange change = onnxl_str_is(action, "LOWER")   ? CASE_LOWER
                      : onnxl_str_is(action, "UPPER") ? CASE_UPPER
                                                      : CASE_NONE;
  int64_t n = 0;
  if (change == CASE_NONE && !onnxl_str_is(action, "NONE"))
    return onnxl_ctx_invalid(context, error, "the case_change_action \"%.*s\" is unknown", ONNXL_ARG(action));
  if (x->rank != 1 && !(x->rank == 2 && x->dims[0] == 1))
    return onnxl_ctx_invalid(context, error, "the input must have the shape [C] or [1,C]");
  OnnxlStr *kept = onnxl_ctx_scratch(context, (uint64_t)x->count, sizeof *kept, error);
  if (!kept)
    return false;
  GString *room = g_string_new(NULL);
  bool good = filter_words(context, change, room, kept, &n, error);
  g_string_free(room, TRUE);
  if (!good)
    return false;
  /* When no word stays the result is one empty word. */
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_STRING, x->rank,
                                   x->rank == 1 ? (int64_t[]){ MAX(n, 1) } : (int64_t[]){ 1, MAX(n, 1) }, error);
  if (y && n > 0)
    memcpy(y->data, kept, (size_t)n * sizeof *kept);
  return y != NULL;
}
ONNXL_KERNEL(string_normalizer, EXACT);
