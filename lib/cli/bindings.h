/* Dimension bindings: NAME=VALUE, and NAME=1,8,32 where several values are meant. */
#ifndef ONNXL_CLI_BINDINGS_H
#define ONNXL_CLI_BINDINGS_H

#include "cli/options.h"
#include "support/str.h"

typedef struct OnnxlBinding {
  OnnxlStr name;   /* borrowed from the text that was parsed */
  int64_t *values; /* owned, at least one, none negative */
  size_t n_values;
} OnnxlBinding;

typedef struct OnnxlBindings {
  OnnxlBinding *items;
  size_t count;
} OnnxlBindings;

/* Parses the texts of an option, each NAME=VALUE, NAME being all up to the last '='. many: lists of values are allowed,
 * and a name that comes again adds values; otherwise that is an error. option: as the user writes it, for messages.
 * Errors: ONNXL_ERROR_USAGE. */
bool onnxl_bindings_parse(OnnxlBindings *ret_bindings, const char *option, const OnnxlStringList *texts, bool many,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_bindings_clear(OnnxlBindings *bindings);

/* Fails with ONNXL_ERROR_USAGE when texts, those of another option, bind name: option came too late to say anything of
 * it. Options as the user writes them. */
bool onnxl_binding_check_free(OnnxlStr name, const char *option, const OnnxlStringList *texts, const char *other,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Splits NAME=VALUE at the last '='. False: there is none, or nothing before it. */
bool onnxl_binding_split(const char *text, OnnxlStr *ret_name, const char **ret_value) G_GNUC_WARN_UNUSED_RESULT;

#endif
