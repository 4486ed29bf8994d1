/* A table of options is all that parsing, --help and the shell completion need to know of a tool. */
#ifndef ONNXL_CLI_OPTIONS_H
#define ONNXL_CLI_OPTIONS_H

#include <glib.h>

#include "support/output.h"

/* The values of an option that may be repeated, in order. items are borrowed from argv. */
typedef struct OnnxlStringList {
  const char **items;
  size_t count;
} OnnxlStringList;

void onnxl_string_list_add(OnnxlStringList *list, const char *item);
void onnxl_string_list_clear(OnnxlStringList *list);

typedef enum OnnxlOptionKind {
  ONNXL_OPTION_END,           /* ends a table */
  ONNXL_OPTION_FLAG,          /* sets a bool */
  ONNXL_OPTION_STRING,        /* takes a value; the last one counts */
  ONNXL_OPTION_OPTIONAL,      /* --name or --name=VALUE: "" without a value, never the next argument */
  ONNXL_OPTION_LIST,          /* takes a value, may be repeated */
  ONNXL_OPTION_SIZE,          /* takes bytes as 4096, 4K, 4M, 4G */
  ONNXL_OPTION_POSITIVE_SIZE, /* the same, but not 0 */
  ONNXL_OPTION_COUNT,         /* takes a number from 0 to UINT32_MAX */
  ONNXL_OPTION_NUMBER,        /* takes a floating-point number from 0 on */
  ONNXL_OPTION_CHOICE,        /* takes one of the words in value, "a|b|c"; the result is its index */
} OnnxlOptionKind;

typedef struct OnnxlOption {
  char letter;      /* 0: none */
  const char *name; /* NULL: none. With letter 'M' the whole short form follows one dash: "MD" is -MD */
  OnnxlOptionKind kind;
  const char *value; /* what stands for the value in the help, or the choices */
  const char *help;  /* one sentence, lower case, no final period */
  /* Where the result goes; it is left alone when the option is not given. */
  union {
    bool *flag;
    const char **string;
    OnnxlStringList *list;
    uint64_t *size;
    uint32_t *count;
    double *number;
    int *choice;
  } to;
} OnnxlOption;

/* Rows of a table. letter may be 0 or name NULL, not both; target: address of a static variable of the kind's type. */
/* clang-format off */
#define ONNXL_FLAG(l, n, target, text) { (l), (n), ONNXL_OPTION_FLAG, NULL, (text), { .flag = (target) } }
#define ONNXL_STRING(l, n, v, target, text) { (l), (n), ONNXL_OPTION_STRING, (v), (text), { .string = (target) } }
#define ONNXL_OPTIONAL(l, n, v, target, text) { (l), (n), ONNXL_OPTION_OPTIONAL, (v), (text), { .string = (target) } }
#define ONNXL_VALUES(l, n, v, target, text) { (l), (n), ONNXL_OPTION_LIST, (v), (text), { .list = (target) } }
#define ONNXL_SIZE(l, n, target, text) { (l), (n), ONNXL_OPTION_SIZE, "SIZE", (text), { .size = (target) } }
#define ONNXL_POSITIVE_SIZE(l, n, target, text) \
  { (l), (n), ONNXL_OPTION_POSITIVE_SIZE, "SIZE", (text), { .size = (target) } }
#define ONNXL_COUNT(l, n, v, target, text) { (l), (n), ONNXL_OPTION_COUNT, (v), (text), { .count = (target) } }
#define ONNXL_NUMBER(l, n, v, target, text) { (l), (n), ONNXL_OPTION_NUMBER, (v), (text), { .number = (target) } }
#define ONNXL_CHOICE(l, n, v, target, text) { (l), (n), ONNXL_OPTION_CHOICE, (v), (text), { .choice = (target) } }
#define ONNXL_OPTIONS_END { 0, NULL, ONNXL_OPTION_END, NULL, NULL, { NULL } }
/* clang-format on */

/* What options need of others, so that none is passed over silently. Each member is a list of options as the user
 * writes them, "--by|--top|-o"; with a word of a choice, "--style=onnx", only that word counts. */
typedef struct OnnxlOptionRule {
  const char *options;  /* none of these may be given … NULL ends the rules */
  const char *needs;    /* … without one of these; a choice that is not given counts with its default. NULL: any */
  const char *excludes; /* … together with any of these. NULL: none */
} OnnxlOptionRule;

/* Parses argv as getopt_long() does: options and operands may be mixed, short options may be bundled, "--" ends the
 * options and "-" is an operand. A name that two tables have means the one in the earlier table. operands: receives
 * what is no option. ret_given: receives the options that were given, each once, in the order of the command line; the
 * caller frees the array. Errors: ONNXL_ERROR_USAGE, one line that says what is wrong. */
bool onnxl_options_parse(const OnnxlOption *const *tables, size_t n_tables, int argc, char **argv,
                         OnnxlStringList *operands, GPtrArray **ret_given, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Holds what was given, as onnxl_options_parse() handed it out, to rules (NULL: none). Errors: ONNXL_ERROR_USAGE, which
 * names both options. */
bool onnxl_options_check(const OnnxlOption *const *tables, size_t n_tables, const GPtrArray *given,
                         const OnnxlOptionRule *rules, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes the lines of the help for one table. */
void onnxl_options_help(const OnnxlOption *table, OnnxlOutput *out);

/* Writes one line an option for programs: short form, long form, kind, value, help, separated by tabs. */
void onnxl_options_list(const OnnxlOption *table, OnnxlOutput *out);

#endif
