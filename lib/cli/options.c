#include "cli/options.h"

#include "support/error.h"
#include "support/limits.h"
#include "support/nearest.h"
#include "support/number.h"

void
onnxl_string_list_add(OnnxlStringList *list, const char *item)
{
  list->items = g_renew(const char *, list->items, list->count + 1);
  list->items[list->count++] = item;
}

void
onnxl_string_list_clear(OnnxlStringList *list)
{
  g_free(list->items);
  *list = (OnnxlStringList){ NULL, 0 };
}

typedef struct Parser {
  const OnnxlOption *const *tables;
  size_t n_tables;
  int argc;
  char **argv;
  int next;         /* the next argument to look at */
  GPtrArray *given; /* const OnnxlOption, each once */
  GError **error;
} Parser;

/* Options such as -MD, whose short form has two letters. */
static bool
is_paired(const OnnxlOption *option)
{
  return option->letter == 'M';
}

static bool
takes_value(const OnnxlOption *option)
{
  return option->kind != ONNXL_OPTION_FLAG && option->kind != ONNXL_OPTION_OPTIONAL;
}

static const OnnxlOption *
find_letter(const Parser *parser, char letter)
{
  for (size_t t = 0; t < parser->n_tables; t++)
    for (const OnnxlOption *o = parser->tables[t]; o->kind != ONNXL_OPTION_END; o++)
      if (o->letter == letter && !is_paired(o))
        return o;
  return NULL;
}

static const OnnxlOption *
find_paired(const Parser *parser, const char *letters)
{
  for (size_t t = 0; t < parser->n_tables; t++)
    for (const OnnxlOption *o = parser->tables[t]; o->kind != ONNXL_OPTION_END; o++)
      if (is_paired(o) && strncmp(o->name, letters, 2) == 0 && (letters[2] == '\0' || takes_value(o)))
        return o;
  return NULL;
}

static const OnnxlOption *
find_name(const Parser *parser, OnnxlStr name)
{
  for (size_t t = 0; t < parser->n_tables; t++)
    for (const OnnxlOption *o = parser->tables[t]; o->kind != ONNXL_OPTION_END; o++)
      if (o->name && !is_paired(o) && onnxl_str_is(name, o->name))
        return o;
  return NULL;
}

static bool
unknown_name(const Parser *parser, OnnxlStr name)
{
  GPtrArray *names = g_ptr_array_new();
  for (size_t t = 0; t < parser->n_tables; t++)
    for (const OnnxlOption *o = parser->tables[t]; o->kind != ONNXL_OPTION_END; o++)
      if (o->name && !is_paired(o))
        g_ptr_array_add(names, (void *)o->name);
  const char *nearest = onnxl_nearest(name, (const char *const *)names->pdata, names->len);
  g_ptr_array_free(names, TRUE);
  if (nearest)
    return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "unknown option '--%.*s'; did you mean '--%s'?",
                      ONNXL_ARG(name), nearest);
  return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "unknown option '--%.*s' (--help lists the options)",
                    ONNXL_ARG(name));
}

/* The option as the user may write it, for messages. */
static const char *
spelling(const OnnxlOption *option, char buffer[64])
{
  if (is_paired(option))
    g_snprintf(buffer, 64, "-%s", option->name);
  else if (option->name)
    g_snprintf(buffer, 64, "--%s", option->name);
  else
    g_snprintf(buffer, 64, "-%c", option->letter);
  return buffer;
}

static bool
set_choice(const Parser *parser, const OnnxlOption *option, const char *value)
{
  char name[64];
  char **words = g_strsplit(option->value, "|", -1);
  bool found = false;
  for (int i = 0; words[i] && !found; i++) {
    found = strcmp(words[i], value) == 0;
    if (found)
      *option->to.choice = i;
  }
  if (!found) {
    const char *nearest = onnxl_nearest(onnxl_str(value), (const char *const *)words, g_strv_length(words));
    char *list = g_strjoinv(", ", words);
    if (nearest)
      onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s: '%s' is not one of %s; did you mean '%s'?",
                 spelling(option, name), value, list, nearest);
    else
      onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s: '%s' is not one of %s", spelling(option, name), value, list);
    g_free(list);
  }
  g_strfreev(words);
  return found;
}

/* Stores a value; NULL for a flag, or for an optional value that is not given. */
static bool
set(const Parser *parser, const OnnxlOption *option, const char *value)
{
  char name[64];
  uint64_t number;
  if (!g_ptr_array_find(parser->given, option, NULL))
    g_ptr_array_add(parser->given, (gpointer)option);
  switch (option->kind) {
  case ONNXL_OPTION_FLAG:
    *option->to.flag = true;
    return true;
  case ONNXL_OPTION_STRING:
    *option->to.string = value;
    return true;
  case ONNXL_OPTION_OPTIONAL:
    *option->to.string = value ? value : "";
    return true;
  case ONNXL_OPTION_LIST:
    onnxl_string_list_add(option->to.list, value);
    return true;
  case ONNXL_OPTION_SIZE:
  case ONNXL_OPTION_POSITIVE_SIZE:
    if (!onnxl_parse_size(value, option->to.size))
      return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s: '%s' is not a size such as 4096, 64K or 4G",
                        spelling(option, name), value);
    return *option->to.size > 0 || option->kind == ONNXL_OPTION_SIZE ||
           onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s: 0 is too small", spelling(option, name));
  case ONNXL_OPTION_COUNT:
    if (!onnxl_str_to_uint64(onnxl_str(value), UINT32_MAX, &number))
      return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s: '%s' is not a number from 0 to %u",
                        spelling(option, name), value, UINT32_MAX);
    *option->to.count = (uint32_t)number;
    return true;
  case ONNXL_OPTION_NUMBER:
    if (onnxl_parse_double(onnxl_str(value), option->to.number) == ONNXL_NUMBER_OK && *option->to.number >= 0 &&
        *option->to.number < G_MAXDOUBLE)
      return true;
    return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s: '%s' is not a number from 0 on", spelling(option, name),
                      value);
  case ONNXL_OPTION_CHOICE:
    return set_choice(parser, option, value);
  case ONNXL_OPTION_END:
    break;
  }
  return false;
}

/* The value of an option that needs one and has none attached: the next argument. */
static bool
set_from_next(Parser *parser, const OnnxlOption *option)
{
  char name[64];
  if (parser->next >= parser->argc)
    return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "%s needs a value: %s", spelling(option, name), option->value);
  return set(parser, option, parser->argv[parser->next++]);
}

static bool
parse_long(Parser *parser, const char *argument)
{
  const char *equals = strchr(argument, '=');
  OnnxlStr name = equals ? onnxl_str_n(argument, (size_t)(equals - argument)) : onnxl_str(argument);
  const OnnxlOption *option = find_name(parser, name);
  if (!option)
    return unknown_name(parser, name);
  if (equals && option->kind == ONNXL_OPTION_FLAG)
    return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "--%s takes no value", option->name);
  if (!equals && takes_value(option))
    return set_from_next(parser, option);
  return set(parser, option, equals ? equals + 1 : NULL);
}

static bool
parse_short(Parser *parser, const char *letters)
{
  const OnnxlOption *option = find_paired(parser, letters);
  if (option)
    return letters[2] == '\0' && takes_value(option) ? set_from_next(parser, option) : set(parser, option, letters + 2);
  for (; *letters; letters++) {
    option = find_letter(parser, *letters);
    if (!option)
      return onnxl_fail(parser->error, ONNXL_ERROR_USAGE, "unknown option '-%s' (--help lists the options)", letters);
    if (takes_value(option))
      return letters[1] == '\0' ? set_from_next(parser, option) : set(parser, option, letters + 1);
    if (!set(parser, option, NULL))
      return false;
  }
  return true;
}

bool
onnxl_options_parse(const OnnxlOption *const *tables, size_t n_tables, int argc, char **argv, OnnxlStringList *operands,
                    GPtrArray **ret_given, GError **error)
{
  Parser parser = { tables, n_tables, argc, argv, 1, g_ptr_array_new(), error };
  bool only_operands = false;
  *ret_given = parser.given;
  while (parser.next < argc) {
    const char *argument = argv[parser.next++];
    if (only_operands || argument[0] != '-' || argument[1] == '\0')
      onnxl_string_list_add(operands, argument);
    else if (strcmp(argument, "--") == 0)
      only_operands = true;
    else if (!(argument[1] == '-' ? parse_long(&parser, argument + 2) : parse_short(&parser, argument + 1)))
      return false;
  }
  return true;
}

/* Takes the next of a list "a|b|c" off its front; false: none is left. */
static bool
next_item(const char **list, OnnxlStr *ret_item)
{
  if (!*list || **list == '\0')
    return false;
  *ret_item = onnxl_str_n(*list, strcspn(*list, "|"));
  *list += ret_item->size + ((*list)[ret_item->size] == '|');
  return true;
}

/* name: "--top", "-o" or "-MD". */
static bool
is_called(const OnnxlOption *option, OnnxlStr name)
{
  OnnxlStr form = onnxl_str_n(name.data + 1, name.size - 1);
  if (is_paired(option))
    return onnxl_str_is(form, option->name);
  if (form.data[0] != '-')
    return form.size == 1 && form.data[0] == option->letter;
  return option->name && onnxl_str_is(onnxl_str_n(form.data + 1, form.size - 1), option->name);
}

static bool
has_word(const OnnxlOption *option, OnnxlStr word)
{
  const char *words = option->value;
  OnnxlStr item;
  for (int i = 0; next_item(&words, &item); i++)
    if (onnxl_str_equal(item, word))
      return *option->to.choice == i;
  return false;
}

/* Whether an item of a rule holds. defaults: options that are not given may have their word, too; NULL: no. */
static bool
holds(const GPtrArray *given, OnnxlStr item, const Parser *defaults)
{
  const char *equals = memchr(item.data, '=', item.size);
  OnnxlStr name = equals ? onnxl_str_n(item.data, (size_t)(equals - item.data)) : item;
  OnnxlStr word = onnxl_str_n(item.data + name.size + 1, equals ? item.size - name.size - 1 : 0);
  for (guint i = 0; i < given->len; i++) {
    const OnnxlOption *option = g_ptr_array_index(given, i);
    if (is_called(option, name))
      return !equals || has_word(option, word);
  }
  const OnnxlOption *option =
    equals && defaults ? find_name(defaults, onnxl_str_n(name.data + 2, name.size - 2)) : NULL;
  return option && has_word(option, word);
}

/* The first of a list that holds, or absent. */
static OnnxlStr
first_that_holds(const GPtrArray *given, const char *list, const Parser *defaults)
{
  for (OnnxlStr item; next_item(&list, &item);)
    if (holds(given, item, defaults))
      return item;
  return (OnnxlStr){ NULL, 0 };
}

static bool
fail_needs(OnnxlStr option, const char *needs, GError **error)
{
  g_autoptr(GString) list = g_string_new(NULL);
  for (OnnxlStr item; next_item(&needs, &item);) {
    if (list->len > 0)
      g_string_append(list, *needs ? ", " : " or ");
    g_string_append_len(list, item.data, (gssize)item.size);
  }
  return onnxl_fail(error, ONNXL_ERROR_USAGE, "%.*s needs %s", ONNXL_ARG(option), list->str);
}

bool
onnxl_options_check(const OnnxlOption *const *tables, size_t n_tables, const GPtrArray *given,
                    const OnnxlOptionRule *rules, GError **error)
{
  const Parser defaults = { .tables = tables, .n_tables = n_tables };
  for (const OnnxlOptionRule *rule = rules; rule && rule->options; rule++) {
    const char *options = rule->options;
    OnnxlStr excluded = first_that_holds(given, rule->excludes, NULL);
    bool met = !rule->needs || first_that_holds(given, rule->needs, &defaults).data;
    for (OnnxlStr option; (!met || excluded.data) && next_item(&options, &option);) {
      if (!holds(given, option, NULL))
        continue;
      if (!met)
        return fail_needs(option, rule->needs, error);
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "%.*s does nothing with %.*s, so they cannot be given together",
                        ONNXL_ARG(option), ONNXL_ARG(excluded));
    }
  }
  return true;
}

enum { HELP_COLUMN = 30, HELP_WIDTH = 100 };

/* Writes words, broken before the width, continuing at the help column. */
static void
wrap(OnnxlOutput *out, const char *text, size_t column)
{
  while (*text) {
    size_t word = strcspn(text, " ");
    if (column > HELP_COLUMN && column + 1 + word > HELP_WIDTH) {
      onnxl_output_char(out, '\n');
      onnxl_output_spaces(out, HELP_COLUMN);
      column = HELP_COLUMN;
    } else if (column > HELP_COLUMN) {
      onnxl_output_char(out, ' ');
      column++;
    }
    onnxl_output_write(out, text, word);
    column += word;
    text += word + strspn(text + word, " ");
  }
  onnxl_output_char(out, '\n');
}

void
onnxl_options_help(const OnnxlOption *table, OnnxlOutput *out)
{
  for (const OnnxlOption *o = table; o->kind != ONNXL_OPTION_END; o++) {
    char form[256];
    const char *value = o->value ? o->value : "";
    if (is_paired(o))
      g_snprintf(form, sizeof form, "  -%s%s%s", o->name, *value ? " " : "", value);
    else if (!o->name)
      g_snprintf(form, sizeof form, "  -%c%s%s", o->letter, *value && o->letter != 'W' ? " " : "", value);
    else
      g_snprintf(form, sizeof form, "  %c%c%s --%s%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                 o->letter ? "," : " ", o->name,
                 o->kind == ONNXL_OPTION_OPTIONAL ? "[="
                 : *value                         ? "="
                                                  : "",
                 value, o->kind == ONNXL_OPTION_OPTIONAL ? "]" : "");
    size_t length = strlen(form);
    onnxl_output_text(out, form);
    if (length + 2 > HELP_COLUMN)
      onnxl_output_char(out, '\n');
    onnxl_output_spaces(out, (uint32_t)(length + 2 > HELP_COLUMN ? HELP_COLUMN : HELP_COLUMN - length));
    wrap(out, o->help, HELP_COLUMN);
  }
}

void
onnxl_options_list(const OnnxlOption *table, OnnxlOutput *out)
{
  static const char *const kinds[] = {
    [ONNXL_OPTION_FLAG] = "flag",   [ONNXL_OPTION_STRING] = "value",  [ONNXL_OPTION_OPTIONAL] = "optional",
    [ONNXL_OPTION_LIST] = "list",   [ONNXL_OPTION_SIZE] = "size",     [ONNXL_OPTION_POSITIVE_SIZE] = "size",
    [ONNXL_OPTION_COUNT] = "count", [ONNXL_OPTION_NUMBER] = "number", [ONNXL_OPTION_CHOICE] = "choice",
  };
  for (const OnnxlOption *o = table; o->kind != ONNXL_OPTION_END; o++) {
    if (is_paired(o))
      onnxl_output_printf(out, "-%s\t", o->name);
    else
      onnxl_output_printf(out, "%s%.1s\t", o->letter ? "-" : "", &o->letter);
    onnxl_output_printf(out, "%s%s\t%s\t%s\t%s\n", o->name && !is_paired(o) ? "--" : "",
                        o->name && !is_paired(o) ? o->name : "", kinds[o->kind], o->value ? o->value : "", o->help);
  }
}
