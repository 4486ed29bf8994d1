/* Regular expressions as ONNX means them: the syntax of RE2. */
#ifndef ONNXL_RUNTIME_REGEX_INTERNAL_H
#define ONNXL_RUNTIME_REGEX_INTERNAL_H

#include <stdbool.h>

#include <glib.h>

#include "support/str.h"

/* Rewrites a pattern in RE2's syntax as one that means the same to PCRE2, compiled with PCRE2_UTF, PCRE2_DOLLAR_ENDONLY
 * and
 * "\n" as newline. What only PCRE2 knows (look-around, back references, atomic groups, possessive repetition, verbs …)
 * is refused. ret_pattern: emptied and filled in. Returns NULL, or the reason: a static text, with *ret_at the offset
 * in bytes where the pattern is wrong. */
const char *onnxl_regex_translate(OnnxlStr pattern, GString *ret_pattern, size_t *ret_at);

#endif
