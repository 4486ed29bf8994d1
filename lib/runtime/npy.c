#include "runtime/npy.h"

#include "runtime/loop.h"
#include "support/error.h"
#include "support/float-formats.h"
#include "support/size.h"

/* The format: magic, version 1.0, 2.0 or 3.0, length of a Python dict with descr, fortran_order and shape, then the
 * data. */
static const char magic[] = "\x93NUMPY";

typedef struct Header {
  char order; /* '<', '>', '|' or '=' */
  char kind;  /* of the descr: 'f', 'i', 'u', 'b', 'c', 'U', 'S', 'V' */
  uint64_t size;
  bool fortran;
  uint32_t rank;
  int64_t dims[ONNXL_MAX_RANK];
  OnnxlStr data;
} Header;

/* The text behind "'key':" in the dict, blanks skipped; NULL data when it is not there. */
static OnnxlStr
find_key(OnnxlStr dict, const char *key)
{
  char quoted[32];
  size_t n = (size_t)g_snprintf(quoted, sizeof quoted, "'%s'", key);
  const char *at = memmem(dict.data, dict.size, quoted, n), *end = dict.data + dict.size;
  if (!at)
    return (OnnxlStr){ NULL, 0 };
  at += n;
  while (at < end && (*at == ' ' || *at == ':'))
    at++;
  return onnxl_str_n(at, (size_t)(end - at));
}

static bool
parse_digits(const char **at, const char *end, uint64_t *ret_value)
{
  const char *start = *at;
  while (*at < end && g_ascii_isdigit(**at))
    ++*at;
  return onnxl_str_to_uint64(onnxl_str_n(start, (size_t)(*at - start)), INT64_MAX, ret_value);
}

static bool
parse_dict(OnnxlStr dict, Header *header)
{
  OnnxlStr descr = find_key(dict, "descr"), fortran = find_key(dict, "fortran_order"), shape = find_key(dict, "shape");
  if (descr.size < 5 || fortran.size < 4 || shape.size < 2 || descr.data[0] != '\'' || shape.data[0] != '(')
    return false;
  header->order = descr.data[1];
  header->kind = descr.data[2];
  header->fortran = fortran.data[0] == 'T';
  const char *at = descr.data + 3, *end = dict.data + dict.size;
  if (!parse_digits(&at, end, &header->size) || at >= end || *at != '\'')
    return false;
  for (at = shape.data + 1; at < end && *at != ')';) {
    uint64_t dim;
    if (*at == ' ' || *at == ',') {
      at++;
      continue;
    }
    if (header->rank == ONNXL_MAX_RANK || !parse_digits(&at, end, &dim))
      return false;
    header->dims[header->rank++] = (int64_t)dim;
  }
  return at < end;
}

static bool
parse_header(OnnxlStr bytes, Header *header)
{
  *header = (Header){ 0 };
  if (bytes.size < 10 || memcmp(bytes.data, magic, 6) != 0)
    return false;
  const uint8_t *b = (const uint8_t *)bytes.data;
  bool wide = b[6] >= 2;
  size_t start = wide ? 12 : 10, length;
  if (bytes.size < start)
    return false;
  length = wide ? (size_t)b[8] | (size_t)b[9] << 8 | (size_t)b[10] << 16 | (size_t)b[11] << 24
                : (size_t)b[8] | (size_t)b[9] << 8;
  if (length > bytes.size - start)
    return false;
  header->data = onnxl_str_n(bytes.data + start + length, bytes.size - start - length);
  return parse_dict(onnxl_str_n(bytes.data + start, length), header);
}

static int32_t
element_type(const Header *header, int32_t wanted)
{
  static const struct {
    char kind;
    uint8_t size;
    int32_t type;
  } types[] = {
    { 'f', 2, ONNXL_TYPE_FLOAT16 },   { 'f', 4, ONNXL_TYPE_FLOAT },       { 'f', 8, ONNXL_TYPE_DOUBLE },
    { 'i', 1, ONNXL_TYPE_INT8 },      { 'i', 2, ONNXL_TYPE_INT16 },       { 'i', 4, ONNXL_TYPE_INT32 },
    { 'i', 8, ONNXL_TYPE_INT64 },     { 'u', 1, ONNXL_TYPE_UINT8 },       { 'u', 2, ONNXL_TYPE_UINT16 },
    { 'u', 4, ONNXL_TYPE_UINT32 },    { 'u', 8, ONNXL_TYPE_UINT64 },      { 'b', 1, ONNXL_TYPE_BOOL },
    { 'c', 8, ONNXL_TYPE_COMPLEX64 }, { 'c', 16, ONNXL_TYPE_COMPLEX128 },
  };
  /* Of elements without bytes, which numpy does not write, a short file could claim any number. */
  if (header->kind == 'U' || header->kind == 'S')
    return header->size > 0 ? ONNXL_TYPE_STRING : ONNXL_TYPE_UNDEFINED;
  for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
    if (types[i].kind == header->kind && types[i].size == header->size)
      return types[i].type;
  uint32_t bits = onnxl_data_type_bits(wanted);
  bool raw = header->kind == 'V' && bits > 0 && header->size == (bits + 7) / 8;
  return raw ? wanted : ONNXL_TYPE_UNDEFINED;
}

/* Array data in row-major order and this machine's byte order, in a buffer of count * size bytes. */
static void
copy_data(const Header *header, int64_t count, char *to)
{
  size_t size = header->size, unit = header->kind == 'c' ? size / 2 : header->kind == 'U' ? 4 : size;
  if (!header->fortran || header->rank < 2)
    memcpy(to, header->data.data, (size_t)count * size);
  else {
    int64_t index[ONNXL_MAX_RANK] = { 0 };
    for (int64_t i = 0; i < count; i++) {
      int64_t from = 0;
      for (uint32_t d = header->rank; d-- > 0;)
        from = from * header->dims[d] + index[d];
      memcpy(to + (size_t)i * size, header->data.data + (size_t)from * size, size);
      for (uint32_t d = header->rank; d-- > 0 && ++index[d] == header->dims[d];)
        index[d] = 0;
    }
  }
  if (header->order != '>' || unit < 2)
    return;
  for (size_t at = 0; at + unit <= (size_t)count * size; at += unit)
    for (size_t i = 0; i < unit / 2; i++) {
      char swapped = to[at + i];
      to[at + i] = to[at + unit - 1 - i];
      to[at + unit - 1 - i] = swapped;
    }
}

/* One element of a text array: UTF-32 or bytes, filled up with zeros. */
static bool
read_text(OnnxlAllocator *allocator, const Header *header, const char *from, OnnxlStr *ret_text, GError **error)
{
  GString *text = g_string_new(NULL);
  for (uint64_t i = 0; i < header->size; i++) {
    uint32_t c;
    if (header->kind == 'U')
      memcpy(&c, from + 4 * i, 4);
    else
      c = (uint8_t)from[i];
    if (c == 0)
      break;
    if (header->kind == 'U')
      g_string_append_unichar(text, c <= 0x10ffff ? c : 0xfffd);
    else
      g_string_append_c(text, (char)c);
  }
  bool good = onnxl_allocator_text(allocator, onnxl_str_n(text->str, text->len), ret_text, error);
  g_string_free(text, TRUE);
  return good;
}

OnnxlValue *
onnxl_npy_read(OnnxlAllocator *allocator, OnnxlStr bytes, int32_t wanted, const char *name, GError **error)
{
  Header header;
  int64_t count;
  uint64_t size, total;
  if (!parse_header(bytes, &header) || !onnxl_shape_count(header.dims, header.rank, &count)) {
    onnxl_fail(error, ONNXL_ERROR_INVALID, "%s is not a .npy file", name);
    return NULL;
  }
  int32_t type = element_type(&header, wanted);
  if (type == ONNXL_TYPE_UNDEFINED) {
    onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: the element type %c%" G_GUINT64_FORMAT " is not supported", name,
               header.kind, header.size);
    return NULL;
  }
  size = header.kind == 'U' ? header.size * 4 : header.size;
  if (header.size > INT32_MAX || __builtin_mul_overflow((uint64_t)count, size, &total) || total > header.data.size) {
    onnxl_fail(error, ONNXL_ERROR_INVALID, "%s ends before its last element", name);
    return NULL;
  }
  OnnxlValue *value = onnxl_value_new_tensor(allocator, type, header.rank, header.dims, name, error);
  if (!value || count == 0)
    return value;
  uint32_t bits = onnxl_data_type_bits(type);
  bool direct = type != ONNXL_TYPE_STRING && bits >= 8, good = true;
  char *buffer = direct ? value->data : onnxl_allocator_get(allocator, total, name, error);
  Header whole = header;
  whole.size = size;
  if (buffer)
    copy_data(&whole, count, buffer);
  good = buffer != NULL;
  if (good && type == ONNXL_TYPE_STRING)
    for (int64_t i = 0; good && i < count; i++)
      good = read_text(allocator, &header, buffer + (uint64_t)i * size, (OnnxlStr *)value->data + i, error);
  else if (good && bits < 8)
    onnxl_pack((const uint8_t *)buffer, (size_t)count, bits, value->data);
  for (int64_t i = 0; type == ONNXL_TYPE_BOOL && i < count; i++)
    ((uint8_t *)value->data)[i] = ((uint8_t *)value->data)[i] != 0;
  if (!direct)
    onnxl_allocator_put(allocator, buffer, total);
  if (!good)
    g_clear_pointer(&value, onnxl_value_unref);
  return value;
}

/* --- writing --- */

/* Longest text in characters. */
static uint64_t
longest_text(const OnnxlValue *tensor)
{
  uint64_t longest = 1;
  for (int64_t i = 0; i < tensor->count; i++) {
    OnnxlStr text = ((const OnnxlStr *)tensor->data)[i];
    uint64_t n = onnxl_str_is_utf8(text) ? (uint64_t)g_utf8_strlen(text.data, (gssize)text.size) : text.size;
    longest = MAX(longest, n);
  }
  return longest;
}

static void
write_text(OnnxlOutput *out, OnnxlStr text, uint64_t length)
{
  bool valid = onnxl_str_is_utf8(text);
  const char *at = text.data, *end = text.data + text.size;
  for (uint64_t i = 0; i < length; i++) {
    uint32_t c = 0;
    if (at < end) {
      c = valid ? g_utf8_get_char(at) : (uint8_t)*at;
      at = valid ? g_utf8_next_char(at) : at + 1;
    }
    onnxl_output_write(out, &c, sizeof c);
  }
}

static char *
descr_of(const OnnxlValue *tensor, uint64_t text_length)
{
  uint32_t bits = onnxl_data_type_bits(tensor->elem_type);
  switch (tensor->elem_type) {
  case ONNXL_TYPE_STRING:
    return g_strdup_printf("<U%" G_GUINT64_FORMAT, text_length);
  case ONNXL_TYPE_BOOL:
    return g_strdup("|b1");
  case ONNXL_TYPE_FLOAT16:
  case ONNXL_TYPE_FLOAT:
  case ONNXL_TYPE_DOUBLE:
    return g_strdup_printf("<f%u", bits / 8);
  case ONNXL_TYPE_COMPLEX64:
  case ONNXL_TYPE_COMPLEX128:
    return g_strdup_printf("<c%u", bits / 8);
  case ONNXL_TYPE_INT8:
    return g_strdup("|i1");
  case ONNXL_TYPE_UINT8:
    return g_strdup("|u1");
  case ONNXL_TYPE_INT16:
  case ONNXL_TYPE_INT32:
  case ONNXL_TYPE_INT64:
    return g_strdup_printf("<i%u", bits / 8);
  case ONNXL_TYPE_UINT16:
  case ONNXL_TYPE_UINT32:
  case ONNXL_TYPE_UINT64:
    return g_strdup_printf("<u%u", bits / 8);
  default:
    return g_strdup_printf("|V%u", MAX(bits / 8, 1));
  }
}

static void
write_header(OnnxlOutput *out, const OnnxlValue *tensor, uint64_t text_length)
{
  char *descr = descr_of(tensor, text_length);
  GString *dict = g_string_new(NULL);
  g_string_printf(dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (uint32_t i = 0; i < tensor->rank; i++)
    g_string_append_printf(dict, "%s%" G_GINT64_FORMAT "%s", i > 0 ? " " : "", tensor->dims[i],
                           i + 1 < tensor->rank || tensor->rank == 1 ? "," : "");
  g_string_append(dict, "), }");
  /* The data starts at a multiple of 64. */
  while ((10 + dict->len + 1) % 64 != 0)
    g_string_append_c(dict, ' ');
  g_string_append_c(dict, '\n');
  onnxl_output_write(out, magic, 6);
  onnxl_output_write(out, "\x01\x00", 2);
  onnxl_output_char(out, (char)(dict->len & 0xff));
  onnxl_output_char(out, (char)(dict->len >> 8));
  onnxl_output_write(out, dict->str, dict->len);
  g_string_free(dict, TRUE);
  g_free(descr);
}

bool
onnxl_npy_write(OnnxlOutput *out, const OnnxlValue *tensor, GError **error)
{
  if (tensor->kind != ONNXL_KIND_TENSOR)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "only tensors can be written as .npy; FILE.pb takes every value");
  bool text = tensor->elem_type == ONNXL_TYPE_STRING;
  uint64_t length = text ? longest_text(tensor) : 0, size;
  /* One long text among many short ones would fill a disk. */
  if (text && (__builtin_mul_overflow((uint64_t)tensor->count, 4 * length, &size) || size > tensor->allocator->limit))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT,
                      "as .npy every text would be as long as the longest, more bytes than --max-memory allows; "
                      "FILE.pb takes them as they are");
  uint32_t bits = onnxl_data_type_bits(tensor->elem_type);
  write_header(out, tensor, length);
  if (text)
    for (int64_t i = 0; i < tensor->count; i++)
      write_text(out, ((const OnnxlStr *)tensor->data)[i], length);
  else if (bits < 8)
    for (int64_t i = 0; i < tensor->count; i++)
      onnxl_output_char(out, (char)onnxl_packed_get(tensor->data, (size_t)i, bits));
  else
    onnxl_output_write(out, tensor->data, tensor->bytes);
  return true;
}
