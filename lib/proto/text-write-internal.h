/* The printer of the textual syntax in parts, bottom up: text-write-token.c (names, strings, numbers, notes),
 * text-write-block.c (`!{…}` blocks), text-write-type.c (types and values), text-write-tensor.c (tensors and weights),
 * text-write-node.c (attributes and nodes), text-write.c (graphs, functions, the model). */
#ifndef ONNXL_PROTO_TEXT_WRITE_INTERNAL_H
#define ONNXL_PROTO_TEXT_WRITE_INTERNAL_H

#include "proto/schema.h"
#include "proto/text.h"

/* Lines are kept within this many bytes where the layout has a choice. */
#define TEXT_COLUMNS 100
/* One level of indentation, and that of continued lines and list entries. */
#define TEXT_INDENT 3
#define TEXT_ENTRY_INDENT 6

/* State of the notes (`#: raw`): a bit is set when the word of its comment is in force. */
typedef enum TextNote {
  TEXT_NOTE_RAW = 1 << 0,       /* raw, else typed */
  TEXT_NOTE_EMBED = 1 << 1,     /* embed, else external */
  TEXT_NOTE_NO_DOMAIN = 1 << 2, /* -domain, else +domain */
  TEXT_NOTE_NO_NAME = 1 << 3,   /* -name, else +name */
  TEXT_NOTE_NO_DOC = 1 << 4,    /* -doc, else +doc */
} TextNote;

/* What the next thing needs of the notes: the bits of mask must be as in words. */
typedef struct TextNeeds {
  uint32_t mask;
  uint32_t words;
} TextNeeds;

typedef struct TextPrinter {
  OnnxlOutput *out;
  const OnnxlModel *model;
  const OnnxlTextOptions *options;
  OnnxlMovePayload move_payload;
  void *move_data;
  GError *error;        /* why the text is incomplete: a payload that could not be moved, malformed numbers */
  const char *location; /* written in references; NULL: none are written */
  uint32_t notes;       /* TextNote bits in force */
  uint32_t indent;      /* of the line being written */
  uint64_t line_start;  /* position in out where the line started */
  bool nan_lost;        /* it was said that NaNs lose their bits */
  bool quiet;           /* what is written now was looked at for losses before */
} TextPrinter;

/* Set of field numbers below ONNXL_FIELD_NUMBERS, bit = number. */
typedef uint32_t TextFields;
#define TEXT_FIELD(number) (UINT32_C(1) << (number))

/* text-write-token.c */

/* Notes that a list of numbers or a group ends inside of a value, so that the text would lack what it holds. */
void onnxl_text_malformed(TextPrinter *p);

/* What needs nothing. */
#define TEXT_NO_NEEDS ((TextNeeds){ 0, 0 })

/* Ends the line. */
void onnxl_text_newline(TextPrinter *p);
/* Starts a line: first a note on a line of its own if the state does not fulfil the needs, then the indentation. */
void onnxl_text_start_line(TextPrinter *p, uint32_t indent, TextNeeds needs);
static inline uint64_t
onnxl_text_column(const TextPrinter *p)
{
  return onnxl_output_position(p->out) - p->line_start;
}

/* onnxl_output_write() for short pieces, without the call. */
static inline void
onnxl_text_put(TextPrinter *p, const char *data, size_t size)
{
  OnnxlOutput *out = p->out;
  if (size <= out->capacity - out->used && size > 0) {
    memcpy(out->buffer + out->used, data, size);
    out->used += size;
  } else {
    onnxl_output_write(out, data, size);
  }
}

#define onnxl_text_literal(p, literal) onnxl_text_put((p), (literal), sizeof(literal) - 1)

/* "…" or !"…", whatever the bytes need; an absent string is ?. */
void onnxl_text_string(TextPrinter *p, OnnxlStr s);
/* A name: bare when it is an identifier, else as a string. */
void onnxl_text_name(TextPrinter *p, OnnxlStr name);
/* A name where a type may stand too, which is quoted when it could be taken for one. */
void onnxl_text_untyped_name(TextPrinter *p, OnnxlStr name);
/* The name of a graph as attribute value, which could also be taken for a number. */
void onnxl_text_graph_value_name(TextPrinter *p, OnnxlStr name);
/* Identifiers joined by dots when all parts are identifiers, else one string. */
void onnxl_text_dotted(TextPrinter *p, OnnxlStr name);
/* Text of a float in any format; text has room for ONNXL_NUMBER_SIZE bytes. Returns: the length. */
size_t onnxl_text_float(TextPrinter *p, char *text, float value);
size_t onnxl_text_double(TextPrinter *p, char *text, double value);
bool onnxl_text_is_identifier(OnnxlStr s);

/* One number of a list: separates it from the one before, breaking the line where it would get too long. */
void onnxl_text_item(TextPrinter *p, bool first, const char *text, size_t size);
void onnxl_text_int_item(TextPrinter *p, bool first, int64_t value);
void onnxl_text_uint_item(TextPrinter *p, bool first, uint64_t value);
void onnxl_text_int_items(TextPrinter *p, const OnnxlInt64List *list);
void onnxl_text_float_items(TextPrinter *p, const OnnxlFloatList *list);

/* Separates an item of a list from the one before and writes the note that it needs: the item then starts a new line.
 */
void onnxl_text_separate(TextPrinter *p, bool first, TextNeeds needs);

/* A blank within an item, or the note that what follows needs, which then starts a new line. */
void onnxl_text_blank(TextPrinter *p, TextNeeds needs);

/* text-write-block.c */

/* The block ` !{…}` of all fields of message that are set and not in given, the fields that the text around it says;
 * nothing when there are none. */
void onnxl_text_block(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, TextFields given);
/* "field: value, …" of the same fields. Returns: true when there were any. */
bool onnxl_text_fields(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, TextFields given);
/* The value of a field that is set. */
void onnxl_text_field_value(TextPrinter *p, const OnnxlFieldDescriptor *field, const void *message);
/* The numbers of a packed list. */
void onnxl_text_packed_items(TextPrinter *p, OnnxlFieldKind kind, OnnxlPacked packed);
void onnxl_text_unknown(TextPrinter *p, const OnnxlUnknownField *field);
/* ["key": "value", …] */
void onnxl_text_pairs(TextPrinter *p, const OnnxlPairList *pairs);

/* text-write-type.c */

/* The element type: its name, !N or !?. */
void onnxl_text_element_type(TextPrinter *p, bool present, int32_t type);
void onnxl_text_type(TextPrinter *p, const OnnxlType *type);
void onnxl_text_value(TextPrinter *p, const OnnxlValueInfo *value);

/* False when the type says nothing, or when one of its messages that has no place of its own in the text has unknown
 * fields. */
bool onnxl_text_type_is_plain(const OnnxlType *type);

/* text-write-portable.c; these do nothing and return true unless portable text is asked for */

/* A finding: what (a field's name) of the message is left out. Only in portable text. */
void onnxl_text_lossy(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, const char *what);
/* The same for all fields that are set and not in given. Only in portable text. */
void onnxl_text_lossy_fields(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message,
                             TextFields given);
/* Refuses a string that "…" cannot hold. Only in portable text. */
void onnxl_text_portable_string(TextPrinter *p, OnnxlStr s);
/* Refuses a name that is no identifier where it has to be one. what: for the message, "operator". */
void onnxl_text_require_identifier(TextPrinter *p, const char *what, OnnxlStr name);
/* True when the type of the value can be written; else it is left out. */
bool onnxl_text_portable_value_type(TextPrinter *p, const OnnxlValueInfo *value);
/* True when the tensor can be written; else it is refused. */
bool onnxl_text_portable_tensor(TextPrinter *p, const OnnxlTensor *tensor);
/* True when the attribute, whose value of the type stands behind `=`, can be written. Only in portable text. */
bool onnxl_text_portable_attribute(const OnnxlAttribute *attribute, int32_t type, bool in_node);

/* text-write-tensor.c */

typedef enum TextTensorPlace {
  TEXT_TENSOR_ENTRY,  /* T[dims] name = data: an initializer */
  TEXT_TENSOR_VALUE,  /* T[dims] name data, or without a name */
  TEXT_TENSOR_VALUES, /* T[dims] data: the values of a sparse initializer, which are named by their entry */
} TextTensorPlace;

TextNeeds onnxl_text_tensor_needs(const TextPrinter *p, const OnnxlTensor *tensor, TextTensorPlace place);
void onnxl_text_tensor(TextPrinter *p, const OnnxlTensor *tensor, TextTensorPlace place);

/* True when sparse_tensor(…) can say it (as initializer or as attribute value); otherwise it is written as a block. */
bool onnxl_text_sparse_is_plain(const OnnxlSparseTensor *sparse, bool initializer);
TextNeeds onnxl_text_sparse_needs(const TextPrinter *p, const OnnxlSparseTensor *sparse, bool initializer);
void onnxl_text_sparse(TextPrinter *p, const OnnxlSparseTensor *sparse, bool initializer);

/* text-write-reference.c */

/* The location that references into the model's file are written with: its path relative to folder. Returns: owned;
 * NULL when there is none: the input is no binary regular file or does not lie below folder. */
char *onnxl_text_reference_location(const OnnxlFile *file, const char *folder);

/* text-write-node.c */

/* True when the attribute holds a graph, and so takes lines of its own. */
bool onnxl_text_attribute_has_graph(const OnnxlAttribute *attribute);
TextNeeds onnxl_text_attribute_needs(const TextPrinter *p, const OnnxlAttribute *attribute);
void onnxl_text_attribute(TextPrinter *p, const OnnxlAttribute *attribute);
/* "a = 1, b = 2"; on_lines: each one on a line of its own, one level deeper. */
void onnxl_text_attribute_list(TextPrinter *p, const OnnxlAttributeList *list, bool on_lines, bool in_node);
/* Number of attributes that are written. Portable text: the others become findings. */
size_t onnxl_text_attributes_written(TextPrinter *p, const OnnxlAttributeList *list, bool in_node);
/* False for an attribute that portable text leaves out. */
bool onnxl_text_attribute_is_written(const TextPrinter *p, const OnnxlAttribute *attribute, bool in_node);
void onnxl_text_node(TextPrinter *p, const OnnxlNode *node);

/* text-write.c */

TextNeeds onnxl_text_graph_needs(const OnnxlGraph *graph);
/* A graph from its name to its closing brace; as_value: as the value of an attribute. */
void onnxl_text_graph(TextPrinter *p, const OnnxlGraph *graph, bool as_value);

#endif
