/* RegexFullMatch. ONNX names RE2, which is a C++ library; PCRE2's automaton answers "does the whole text match" in time
 * linear in the text as RE2 does, and finds the same texts once what only PCRE2 knows is kept out of the pattern. */
#include "runtime/kernel.h"

#ifdef ONNXL_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "runtime/library.h"
#include "runtime/regex-internal.h"

#define FUNCTIONS(F)                                                                                                \
  F(pcre2_code_free)                                                                                                \
  F(pcre2_compile) F(pcre2_compile_context_create) F(pcre2_compile_context_free) F(pcre2_dfa_match)                 \
    F(pcre2_get_error_message) F(pcre2_match_context_create) F(pcre2_match_context_free) F(pcre2_match_data_create) \
      F(pcre2_match_data_free) F(pcre2_set_depth_limit) F(pcre2_set_heap_limit) F(pcre2_set_newline)
ONNXL_LIBRARY("pcre2", ONNXL_SONAME_PCRE2, "RegexFullMatch", FUNCTIONS)

enum { FIRST_WORKSPACE = 1 << 10, MAX_WORKSPACE = 1 << 22, MAX_HEAP_KIB = 64 << 10, MAX_DEPTH = 1000 };

typedef struct Matcher {
  pcre2_compile_context *compile;
  pcre2_match_context *limits;
  pcre2_code *code;
  pcre2_match_data *result;
  int *workspace;
  size_t n_workspace;
} Matcher;

static void
matcher_clear(Matcher *matcher)
{
  lib.pcre2_match_data_free(matcher->result);
  lib.pcre2_code_free(matcher->code);
  lib.pcre2_match_context_free(matcher->limits);
  lib.pcre2_compile_context_free(matcher->compile);
  g_free(matcher->workspace);
}

static bool
matcher_compile(const OnnxlKernelContext *context, Matcher *matcher, const GString *pattern, GError **error)
{
  int code;
  size_t at;
  matcher->compile = lib.pcre2_compile_context_create(NULL);
  matcher->limits = lib.pcre2_match_context_create(NULL);
  if (!matcher->compile || !matcher->limits)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "no memory for a regular expression");
  lib.pcre2_set_newline(matcher->compile, PCRE2_NEWLINE_LF);
  lib.pcre2_set_heap_limit(matcher->limits, MAX_HEAP_KIB);
  lib.pcre2_set_depth_limit(matcher->limits, MAX_DEPTH);
  matcher->code = lib.pcre2_compile((PCRE2_SPTR)pattern->str, pattern->len,
                                    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
                                      PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_CAPTURE,
                                    &code, &at, matcher->compile);
  if (!matcher->code) {
    PCRE2_UCHAR text[160];
    lib.pcre2_get_error_message(code, text, sizeof text);
    return onnxl_ctx_invalid(context, error, "the pattern is wrong: %s", (const char *)text);
  }
  matcher->result = lib.pcre2_match_data_create(1, NULL);
  if (!matcher->result)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "no memory for a regular expression");
  return true;
}

static bool
matcher_run(const OnnxlKernelContext *context, Matcher *matcher, OnnxlStr text, bool *ret_matches, GError **error)
{
  int found;
  do {
    found = lib.pcre2_dfa_match(matcher->code, (PCRE2_SPTR)(text.data ? text.data : ""), text.size, 0, 0,
                                matcher->result, matcher->limits, matcher->workspace, matcher->n_workspace);
    if (found != PCRE2_ERROR_DFA_WSSIZE || matcher->n_workspace >= MAX_WORKSPACE)
      break;
    matcher->n_workspace *= 4;
    matcher->workspace = g_renew(int, matcher->workspace, matcher->n_workspace);
  } while (true);
  *ret_matches = found >= 0;
  if (found >= 0 || found == PCRE2_ERROR_NOMATCH)
    return true;
  PCRE2_UCHAR message[160];
  lib.pcre2_get_error_message(found, message, sizeof message);
  bool bad_text = found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21;
  return onnxl_ctx_fail(context, error, bad_text ? ONNXL_ERROR_INVALID : ONNXL_ERROR_LIMIT,
                        "a text cannot be matched: %s", (const char *)message);
}

static bool
run_regex_full_match(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlStr pattern = onnxl_ctx_string(context, "pattern");
  if (!onnxl_ctx_load(context, load_library, error))
    return false;
  GString *translated = g_string_new(NULL);
  Matcher matcher = { .workspace = g_new(int, FIRST_WORKSPACE), .n_workspace = FIRST_WORKSPACE };
  size_t at = 0;
  const char *wrong = onnxl_regex_translate(pattern, translated, &at);
  bool good = !wrong || onnxl_ctx_invalid(context, error, "the pattern is wrong at byte %zu: %s", at, wrong);
  good = good && matcher_compile(context, &matcher, translated, error);
  OnnxlValue *y = good ? onnxl_ctx_output(context, 0, ONNXL_TYPE_BOOL, x->rank, x->dims, error) : NULL;
  good = y != NULL;
  for (int64_t i = 0; good && i < x->count; i++)
    good = matcher_run(context, &matcher, ((const OnnxlStr *)x->data)[i], &((bool *)y->data)[i], error);
  matcher_clear(&matcher);
  g_string_free(translated, TRUE);
  return good;
}

#else

static bool
run_regex_full_match(OnnxlKernelContext *context, GError **error)
{
  return onnxl_ctx_fail(context, error, ONNXL_ERROR_UNSUPPORTED, "this build has no regular expressions (PCRE2)");
}

#endif

ONNXL_KERNEL(regex_full_match, EXACT);
