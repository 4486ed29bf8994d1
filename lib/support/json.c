#include "support/json.h"

#include <math.h>

#include "support/escape.h"
#include "support/number.h"

enum { INDENT = 1 };

void
onnxl_json_init(OnnxlJson *json, OnnxlOutput *out, uint32_t break_depth)
{
  *json = (OnnxlJson){ .out = out, .break_depth = break_depth };
}

static void
new_line(OnnxlJson *json)
{
  onnxl_output_char(json->out, '\n');
  onnxl_output_spaces(json->out, json->depth * INDENT);
}

/* What must stand between the item before and the one that starts now. */
static void
start_item(OnnxlJson *json)
{
  if (json->after_key) {
    json->after_key = false;
  } else if (json->depth > 0) {
    if (json->filled)
      onnxl_output_char(json->out, ',');
    if (json->depth <= json->break_depth)
      new_line(json);
    else if (json->filled)
      onnxl_output_char(json->out, ' ');
  }
  json->filled = true;
}

static void
begin(OnnxlJson *json, char bracket)
{
  start_item(json);
  onnxl_output_char(json->out, bracket);
  json->depth++;
  json->filled = false;
}

static void
end(OnnxlJson *json, char bracket)
{
  bool break_line = json->filled && json->depth <= json->break_depth;
  json->depth--;
  if (break_line)
    new_line(json);
  onnxl_output_char(json->out, bracket);
  json->filled = true;
}

void
onnxl_json_begin_object(OnnxlJson *json)
{
  begin(json, '{');
}

void
onnxl_json_end_object(OnnxlJson *json)
{
  end(json, '}');
}

void
onnxl_json_begin_array(OnnxlJson *json)
{
  begin(json, '[');
}

void
onnxl_json_end_array(OnnxlJson *json)
{
  end(json, ']');
}

static bool
is_plain(char c)
{
  return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

/* The first byte that is not plain, or stop. */
static const char *
skip_plain(const char *p, const char *stop)
{
  const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
  /* Eight at a time, as in onnxl_str_plain(); a byte that is a quote or a backslash becomes 0, and less 1 negative. */
  for (uint64_t eight; (size_t)(stop - p) >= sizeof eight; p += sizeof eight) {
    memcpy(&eight, p, sizeof eight);
    uint64_t quotes = eight ^ ones * '"', slashes = eight ^ ones * '\\';
    if ((eight | (eight - ones * ' ') | (eight + ones) | (quotes - ones) | (slashes - ones)) & high)
      break;
  }
  while (p < stop && is_plain(*p))
    p++;
  return p;
}

static void
write_escaped(OnnxlOutput *out, uint32_t c, const char *bytes, size_t size)
{
  const char *letters = "b\bf\fn\nr\rt\t";
  if (c == '"' || c == '\\') {
    onnxl_output_char(out, '\\');
    onnxl_output_char(out, (char)c);
    return;
  }
  /* Unsafe characters are legal in JSON, but a terminal must not see them. */
  if (!onnxl_is_unsafe_char(c)) {
    onnxl_output_write(out, bytes, size);
    return;
  }
  for (; *letters; letters += 2) {
    if ((uint32_t)letters[1] == c) {
      onnxl_output_char(out, '\\');
      onnxl_output_char(out, letters[0]);
      return;
    }
  }
  onnxl_output_printf(out, "\\u%04x", c);
}

static void
write_string(OnnxlOutput *out, OnnxlStr text)
{
  const char *p = text.data, *stop = p + text.size;
  onnxl_output_char(out, '"');
  while (p < stop) {
    const char *plain = p;
    p = skip_plain(p, stop);
    onnxl_output_write(out, plain, (size_t)(p - plain));
    if (p == stop)
      break;
    uint32_t c;
    size_t size = onnxl_utf8_next(onnxl_str_n(p, (size_t)(stop - p)), &c);
    if (size > 0)
      write_escaped(out, c, p, size);
    else
      onnxl_output_text(out, "\xef\xbf\xbd");
    p += size > 0 ? size : 1;
  }
  onnxl_output_char(out, '"');
}

void
onnxl_json_key_str(OnnxlJson *json, OnnxlStr key)
{
  start_item(json);
  write_string(json->out, key);
  onnxl_output_text(json->out, ": ");
  json->after_key = true;
}

void
onnxl_json_key(OnnxlJson *json, const char *key)
{
  onnxl_json_key_str(json, onnxl_str(key));
}

void
onnxl_json_string(OnnxlJson *json, OnnxlStr text)
{
  start_item(json);
  write_string(json->out, text);
}

void
onnxl_json_text(OnnxlJson *json, const char *text)
{
  if (text)
    onnxl_json_string(json, onnxl_str(text));
  else
    onnxl_json_null(json);
}

void
onnxl_json_base64(OnnxlJson *json, OnnxlStr bytes)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = (const unsigned char *)bytes.data;
  start_item(json);
  onnxl_output_char(json->out, '"');
  for (size_t i = 0; i < bytes.size; i += 3) {
    size_t n = MIN(bytes.size - i, (size_t)3);
    uint32_t word = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
    char group[4] = { digits[word >> 18], digits[word >> 12 & 63], n > 1 ? digits[word >> 6 & 63] : '=',
                      n > 2 ? digits[word & 63] : '=' };
    onnxl_output_write(json->out, group, sizeof group);
  }
  onnxl_output_char(json->out, '"');
}

void
onnxl_json_bytes(OnnxlJson *json, OnnxlStr bytes)
{
  if (onnxl_str_is_utf8(bytes)) {
    onnxl_json_string(json, bytes);
    return;
  }
  start_item(json);
  onnxl_output_text(json->out, "{\"base64\": ");
  json->after_key = true;
  onnxl_json_base64(json, bytes);
  onnxl_output_char(json->out, '}');
}

void
onnxl_json_int64(OnnxlJson *json, int64_t value)
{
  start_item(json);
  onnxl_output_int64(json->out, value);
}

void
onnxl_json_uint64(OnnxlJson *json, uint64_t value)
{
  start_item(json);
  onnxl_output_uint64(json->out, value);
}

void
onnxl_json_bool(OnnxlJson *json, bool value)
{
  start_item(json);
  onnxl_output_text(json->out, value ? "true" : "false");
}

void
onnxl_json_null(OnnxlJson *json)
{
  start_item(json);
  onnxl_output_text(json->out, "null");
}

/* Writes the string that stands for a value that JSON has no number for. */
static bool
write_special(OnnxlJson *json, double value)
{
  if (isfinite(value))
    return false;
  onnxl_output_text(json->out, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
  return true;
}

void
onnxl_json_float(OnnxlJson *json, float value)
{
  start_item(json);
  if (!write_special(json, value))
    onnxl_output_float(json->out, value);
}

void
onnxl_json_double(OnnxlJson *json, double value)
{
  start_item(json);
  if (!write_special(json, value))
    onnxl_output_double(json->out, value);
}

void
onnxl_json_raw(OnnxlJson *json, OnnxlStr value)
{
  start_item(json);
  onnxl_output_str(json->out, value);
}

void
onnxl_json_end(OnnxlJson *json)
{
  onnxl_output_char(json->out, '\n');
  json->filled = false;
}
