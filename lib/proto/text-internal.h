/* Reading the textual syntax, in parts, bottom up: text-lexer.c (tokens), text-report.c (findings about tokens, going
 * on after one), text-read-type.c (names, types), text-read-tensor.c (tensors and their values), text-read-embed.c
 * (references to files), text-read-block.c (`!{…}` blocks), text-read-attribute.c, text-read-graph.c (nodes, graphs,
 * functions), text-read.c (the model).
 *
 * A function that reads something returns false when it reported a finding, or stopped for good, before the end of that
 * thing; the caller hands the failure up to the list or node list around it, which goes on behind it. */
#ifndef ONNXL_PROTO_TEXT_INTERNAL_H
#define ONNXL_PROTO_TEXT_INTERNAL_H

#include "proto/schema.h"
#include "proto/text.h"
#include "support/error.h"
#include "support/map.h"

/* A kind below 256 is that character. */
typedef enum OnnxlTokenKind {
  ONNXL_TOKEN_END = 256, /* of the text */
  ONNXL_TOKEN_IDENTIFIER,
  ONNXL_TOKEN_STRING,        /* text = the contents, escapes resolved */
  ONNXL_TOKEN_INT,           /* text = the digits with their sign */
  ONNXL_TOKEN_FLOAT,         /* with point or exponent, or -inf, -nan; "inf" alone is an identifier */
  ONNXL_TOKEN_HEX,           /* 0x…; text = the digits */
  ONNXL_TOKEN_BITS,          /* !0x…; text = the digits */
  ONNXL_TOKEN_NUMBERED,      /* !N; text = the digits */
  ONNXL_TOKEN_ABSENT,        /* !? */
  ONNXL_TOKEN_OPEN_BLOCK,    /* !{ */
  ONNXL_TOKEN_OPEN_ELEMENTS, /* ![ */
  ONNXL_TOKEN_ELIDED,        /* ... */
  ONNXL_TOKEN_BAD,           /* no token; bad says why */
} OnnxlTokenKind;

typedef enum OnnxlBadToken {
  ONNXL_BAD_CHAR,         /* non-ASCII or a control character */
  ONNXL_BAD_EXPONENT,     /* 1e */
  ONNXL_BAD_NUMBER,       /* 1x, 1.5.2 */
  ONNXL_BAD_MINUS,        /* -x */
  ONNXL_BAD_ESCAPE,       /* at is the backslash */
  ONNXL_BAD_UNTERMINATED, /* string */
} OnnxlBadToken;

/* The words of notes (`#: raw`) in force: a bit is set for the word that is not the initial one. */
typedef enum OnnxlTextNote {
  ONNXL_TEXT_NOTE_RAW = 1 << 0,
  ONNXL_TEXT_NOTE_EMBED = 1 << 1,
  ONNXL_TEXT_NOTE_NO_DOMAIN = 1 << 2,
  ONNXL_TEXT_NOTE_NO_NAME = 1 << 3,
  ONNXL_TEXT_NOTE_NO_DOC = 1 << 4, /* the initial one */
} OnnxlTextNote;

typedef struct OnnxlToken {
  uint16_t kind;
  uint8_t notes; /* in force where the token starts */
  uint8_t bad;
  bool first_on_line; /* nothing but blanks and comments before it since the last line break */
  bool not_utf8;      /* a string that is no UTF-8 */
  const char *start;
  const char *end;
  OnnxlStr text;  /* identifiers, strings and numbers */
  const char *at; /* of a bad token: what is wrong */
} OnnxlToken;

typedef struct OnnxlReader {
  OnnxlModel *model;
  OnnxlArena *arena;
  OnnxlDiagSink *sink;
  GError *error;    /* what stops the run for good */
  GError *io_error; /* the first referenced file that could not be read; the text is read on */
  uint32_t depth;   /* messages below ModelProto that are being read */
  uint32_t max_depth;
  bool in_node; /* what is being read belongs to a node, not to the head of a graph in it */
  bool reserved; /* room for the nodes of the main graph was looked for */

  /* the lexer */
  const char *text;
  const char *end;
  const char *at;       /* behind the token */
  OnnxlToken token;     /* the current one */
  const char *last_end; /* end of the token before it */
  uint8_t notes;
  bool unterminated;      /* a string was not closed on any line */
  const char *line_start; /* a line whose number is known */
  uint32_t line;
  const char *line_at; /* a place on it: up to there no other line starts */

  /* Items of the lists that are being read, the innermost on top: each is copied to the arena when it is complete. */
  char *scratch;
  size_t scratch_used;
  size_t scratch_size;

  /* files that references name, by location */
  OnnxlMap files;
} OnnxlReader;

/* text-lexer.c */

/* Moves to the next token. Returns true, for the ends of conditions. */
bool onnxl_reader_next(OnnxlReader *r);

/* True when the text goes on at `at` with a character that continues a name or number, as in "a/b", "2*N", "1x": run is
 * then the whole of it from start. colon: whether a colon or dot may separate here and so ends the name. */
bool onnxl_reader_glued(const OnnxlReader *r, const char *start, const char *at, bool separators, OnnxlStr *ret_run);

static inline bool
onnxl_reader_at(const OnnxlReader *r, uint32_t kind)
{
  return r->token.kind == kind;
}

/* Moves on if the token is of that kind. */
static inline bool
onnxl_reader_accept(OnnxlReader *r, uint32_t kind)
{
  return r->token.kind == kind && onnxl_reader_next(r);
}

/* True at the `=` of a `=>`. */
static inline bool
onnxl_reader_at_arrow(const OnnxlReader *r)
{
  return r->token.kind == '=' && r->at < r->end && *r->at == '>';
}

/* True for inf, infinity and nan in any case. */
bool onnxl_text_is_special_float(OnnxlStr word);

/* text-report.c */

/* Adds a finding about the bytes from start to end. Returns false. */
bool onnxl_reader_report(OnnxlReader *r, OnnxlDiagId id, const char *start, const char *end, const char *format, ...)
  G_GNUC_PRINTF(5, 6);
/* The same about a token. */
#define onnxl_reader_report_at(r, id, token, ...) onnxl_reader_report(r, id, (token)->start, (token)->end, __VA_ARGS__)

/* Reports the current token, which is not what is expected. Returns false. */
bool onnxl_reader_expected(OnnxlReader *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Consumes a token of that kind or reports its absence. */
bool onnxl_reader_expect(OnnxlReader *r, uint32_t kind, const char *what);

/* Stops for good with ONNXL_ERROR_LIMIT. Returns false. */
bool onnxl_reader_exhausted(OnnxlReader *r);

/* Enters messages nested levels deeper than the current one. False: too deep. */
bool onnxl_reader_enter(OnnxlReader *r, uint32_t levels);
static inline void
onnxl_reader_leave(OnnxlReader *r, uint32_t levels)
{
  r->depth -= levels;
}

/* Goes on after a failure: to the next comma or the closer of the list that is being read. False: neither comes. */
bool onnxl_reader_recover_list(OnnxlReader *r, uint32_t closer);
/* The same behind the closer of what is no list. */
bool onnxl_reader_recover_behind(OnnxlReader *r, uint32_t closer);
/* The same in a node list: to the first token of a later line, or its closing brace. */
bool onnxl_reader_recover_node(OnnxlReader *r);
/* To an opening brace that is not nested, for the rest of a graph whose head is wrong. */
bool onnxl_reader_recover_body(OnnxlReader *r);

/* Reads items, separated by commas, up to and with the closer; the opener is consumed already. No comma may stand
 * before the closer. An item that fails is skipped. False: the list does not end. */
typedef bool (*OnnxlReadItem)(OnnxlReader *r, void *data);
bool onnxl_reader_list(OnnxlReader *r, uint32_t closer, OnnxlReadItem item, void *data);

/* Reports the current token, which is neither a comma nor the closer. Returns false. */
bool onnxl_reader_no_separator(OnnxlReader *r, uint32_t closer);

/* The candidate most like word, for "did you mean"; NULL when none is alike. */
typedef const char *(*OnnxlCandidate)(const void *data, size_t i); /* NULL behind the last one */
const char *onnxl_text_similar(OnnxlStr word, OnnxlCandidate candidate, const void *data);

/* Pushes bytes on the scratch stack. */
bool onnxl_reader_push(OnnxlReader *r, const void *bytes, size_t size);
bool onnxl_reader_push_varint(OnnxlReader *r, uint64_t value);
/* Copies what was pushed since mark to the arena and takes it off. Returns NULL when nothing was pushed or on failure,
 * which stops the run. */
void *onnxl_reader_pop(OnnxlReader *r, size_t mark, size_t *ret_size);
/* The same into a list. */
#define ONNXL_READER_POP(r, mark, list)                        \
  do {                                                         \
    size_t pop_size_;                                          \
    (list)->items = onnxl_reader_pop((r), (mark), &pop_size_); \
    (list)->count = pop_size_ / sizeof *(list)->items;         \
  } while (0)

/* text-read-number.c */

/* True when text is word, a lower-case one, in any case. */
bool onnxl_text_is_word(OnnxlStr text, const char *word);

/* Reports the current token, which is no number, with what to write instead. Returns false. */
bool onnxl_reader_no_number(OnnxlReader *r, const char *what);
/* A number; the token is consumed. An integer will do as a float, and `!0x…` gives its bits. */
bool onnxl_reader_int64(OnnxlReader *r, int64_t *ret_value);
bool onnxl_reader_int32(OnnxlReader *r, int32_t *ret_value);
bool onnxl_reader_uint64(OnnxlReader *r, uint64_t *ret_value);
bool onnxl_reader_float(OnnxlReader *r, float *ret_value);
bool onnxl_reader_double(OnnxlReader *r, double *ret_value);
/* The bits of a `!0x…` token with that many digits; what: the type. */
bool onnxl_reader_bits(OnnxlReader *r, uint32_t digits, const char *what, uint64_t *ret_bits);
/* True at a number with point or exponent, or a word such as inf. */
bool onnxl_reader_at_float(const OnnxlReader *r);
/* Sign and magnitude of an INT token's text. False: above 64 bits. */
bool onnxl_text_magnitude(OnnxlStr digits, bool *ret_negative, uint64_t *ret_magnitude);

/* text-read-type.c */

/* A name: identifier, string, or `?` for an absent one (data NULL). what: names it in messages. */
bool onnxl_reader_name(OnnxlReader *r, const char *what, OnnxlStr *ret_name);
/* The same where a colon or dot may follow without a blank. */
bool onnxl_reader_key(OnnxlReader *r, const char *what, OnnxlStr *ret_name);
/* A string, or `?`. */
bool onnxl_reader_string(OnnxlReader *r, const char *what, OnnxlStr *ret_string);
/* a and b with a dot between them; b when a is empty. */
OnnxlStr onnxl_reader_join(OnnxlReader *r, OnnxlStr a, OnnxlStr b);

/* True when the token starts a type. */
bool onnxl_reader_at_type(const OnnxlReader *r);

/* Where a type cannot be that of a tensor with values: NULL, or the first dimension that is no integer, or the bracket
 * of an unknown rank. */
typedef struct OnnxlTypePlaces {
  OnnxlToken start;
  const char *dim_start, *dim_end;
  const char *rank;
} OnnxlTypePlaces;

/* A type with its block into a zeroed struct. */
bool onnxl_reader_type(OnnxlReader *r, OnnxlType *type, OnnxlTypePlaces *ret_places);

/* Reports the current token, an identifier in place of a type. Returns false. */
bool onnxl_reader_unknown_type(OnnxlReader *r, const OnnxlToken *word);
/* The element type most like word, or NULL. */
const char *onnxl_text_similar_type(OnnxlStr word);

/* [type] name [block]; fallible part of inputs, outputs and entries. */
bool onnxl_reader_value(OnnxlReader *r, OnnxlValueInfo *value, OnnxlTypePlaces *ret_places);

/* text-read-tensor.c */

/* Takes element type and dims from a type. False: it is not a tensor's, or has unknown dims. */
bool onnxl_reader_tensor_type(OnnxlReader *r, const OnnxlType *type, const OnnxlTypePlaces *places,
                              OnnxlTensor *tensor);
/* The values, if there are any, and the block. notes: in force where the tensor started. */
bool onnxl_reader_tensor_data(OnnxlReader *r, uint8_t notes, OnnxlTensor *tensor);
/* A tensor as value of an attribute or field, behind its type: [name] [=] [values]. */
bool onnxl_reader_tensor_value(OnnxlReader *r, const OnnxlType *type, const OnnxlTypePlaces *places,
                               OnnxlTensor *tensor);
/* A whole tensor. */
bool onnxl_reader_tensor(OnnxlReader *r, OnnxlTensor *tensor);
/* {values, indices} [block] behind a sparse type. name: of the values, when they have none of their own (initializers).
 */
bool onnxl_reader_sparse_data(OnnxlReader *r, const OnnxlType *type, const OnnxlTypePlaces *places,
                              const OnnxlStr *name, OnnxlSparseTensor *sparse);
/* Whether a tensor's values may follow a type at the current token. */
bool onnxl_reader_at_tensor(const OnnxlReader *r);

/* text-read-embed.c */

/* The bytes that the entries refer to, mapped and kept with the model. token: for messages. */
bool onnxl_reader_embed(OnnxlReader *r, const OnnxlToken *token, const OnnxlPairList *entries, OnnxlStr *ret_bytes);

/* text-read-block.c */

/* Where fields were set in a block, by number, so that text behind it cannot set them again. onnx.proto has no higher
 * field numbers in the messages with such text. */
enum { ONNXL_BLOCK_FIELDS = 32 };
typedef struct OnnxlBlockPlaces {
  OnnxlStr at[ONNXL_BLOCK_FIELDS];
} OnnxlBlockPlaces;

/* Reads the block at `!{`, if there is one, into message. Fields that are set already may not be set again.
 * ret_places may be NULL. */
bool onnxl_reader_block(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, void *message,
                        OnnxlBlockPlaces *ret_places);
/* Reports the field, which a block before has set. Returns false. */
bool onnxl_reader_set_in_block(OnnxlReader *r, const OnnxlBlockPlaces *places, const char *name, uint32_t number);

/* The value of a field, into message. */
bool onnxl_reader_field(OnnxlReader *r, const OnnxlFieldDescriptor *field, void *message);
/* NUMBER/WIRETYPE: value, an OnnxlUnknownField pushed on the scratch stack. */
bool onnxl_reader_unknown_field(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor);
/* [key: value, …], the bracket included, behind the pairs already there. */
bool onnxl_reader_pairs(OnnxlReader *r, OnnxlPairList *pairs);

/* text-read-attribute.c */

/* Attributes up to and with the `>`; the `<` is consumed. ret_names: of a function, whose names alone go there; NULL
 * for a node. */
bool onnxl_reader_attributes(OnnxlReader *r, OnnxlAttributeList *ret_attributes, OnnxlStrList *ret_names);

/* text-read-graph.c */

/* A graph into a zeroed struct; the first form when its name is read already. notes: in force where it started. */
bool onnxl_reader_graph_after_name(OnnxlReader *r, OnnxlStr name, uint8_t notes, OnnxlGraph *graph);
bool onnxl_reader_graph(OnnxlReader *r, OnnxlGraph *graph);
/* A function from its name on, into a struct that may hold its header. */
bool onnxl_reader_function(OnnxlReader *r, OnnxlFunction *function);

#endif
