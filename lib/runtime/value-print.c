#include "runtime/value-print.h"

#include <math.h>

#include "runtime/tensor.h"
#include "support/number.h"

enum { SUMMARIZE_ABOVE = 1000, EDGE = 3 };

/* numpy writes 2. for 2.0. */
static void
print_real(OnnxlOutput *out, const char *text, size_t size)
{
  if (size > 2 && text[size - 1] == '0' && text[size - 2] == '.')
    size--;
  onnxl_output_write(out, text, size);
}

/* Whether a computed NaN has a sign differs from machine to machine. */
static void
print_float_element(OnnxlOutput *out, int32_t elem_type, double value)
{
  char text[ONNXL_NUMBER_SIZE];
  value = isnan(value) ? (double)NAN : value;
  size_t size = elem_type == ONNXL_TYPE_DOUBLE || elem_type == ONNXL_TYPE_COMPLEX128
                  ? onnxl_print_double(text, value)
                  : onnxl_print_float(text, (float)value);
  print_real(out, text, size);
}

static void
print_element(OnnxlOutput *out, const OnnxlValue *tensor, int64_t i)
{
  int32_t type = tensor->elem_type;
  if (type == ONNXL_TYPE_STRING) {
    OnnxlStr text = ((const OnnxlStr *)tensor->data)[i];
    onnxl_output_char(out, '\'');
    onnxl_output_str(out, text);
    onnxl_output_char(out, '\'');
  } else if (type == ONNXL_TYPE_BOOL)
    onnxl_output_text(out, onnxl_tensor_int64(tensor, i) ? "True" : "False");
  else if (type == ONNXL_TYPE_UINT64)
    onnxl_output_uint64(out, (uint64_t)onnxl_tensor_int64(tensor, i));
  else if (onnxl_type_is_integer(type))
    onnxl_output_int64(out, onnxl_tensor_int64(tensor, i));
  else if (onnxl_type_is_complex(type)) {
    const double parts[2] = { onnxl_tensor_part(tensor, 2 * i), onnxl_tensor_part(tensor, 2 * i + 1) };
    print_float_element(out, type, parts[0]);
    onnxl_output_text(out, parts[1] < 0 ? "" : "+");
    print_float_element(out, type, parts[1]);
    onnxl_output_char(out, 'j');
  } else
    print_float_element(out, type, onnxl_tensor_double(tensor, i));
}

static void
print_axis(OnnxlOutput *out, const OnnxlValue *tensor, uint32_t axis, int64_t first, int64_t stride, bool summarize)
{
  if (axis == tensor->rank) {
    print_element(out, tensor, first);
    return;
  }
  int64_t n = tensor->dims[axis];
  onnxl_output_char(out, '[');
  /* stride: elements that one step along the axis outside moves on, thus n times a step here. */
  for (int64_t i = 0; i < n; i++) {
    onnxl_output_text(out, i > 0 ? " " : "");
    if (summarize && n > 2 * EDGE && i == EDGE) {
      onnxl_output_text(out, "... ");
      i = n - EDGE;
    }
    print_axis(out, tensor, axis + 1, first + i * (stride / n), stride / n, summarize);
  }
  onnxl_output_char(out, ']');
}

static void
print_map(OnnxlOutput *out, const OnnxlValue *map)
{
  onnxl_output_char(out, '{');
  for (int64_t i = 0; i < map->items[0]->count; i++) {
    onnxl_output_text(out, i > 0 ? ", " : "");
    print_element(out, map->items[0], i);
    onnxl_output_text(out, ": ");
    print_element(out, map->items[1], i);
  }
  onnxl_output_char(out, '}');
}

static void
print_values(OnnxlOutput *out, const OnnxlValue *value, int64_t summarize_above)
{
  switch (value->kind) {
  case ONNXL_KIND_TENSOR:
    if (value->count == 0)
      onnxl_output_text(out, "[]");
    else
      print_axis(out, value, 0, 0, value->count, value->count > summarize_above);
    return;
  case ONNXL_KIND_MAP:
    print_map(out, value);
    return;
  case ONNXL_KIND_OPTIONAL:
    if (value->n_items == 0)
      onnxl_output_text(out, "None");
    else
      print_values(out, value->items[0], summarize_above);
    return;
  default:
    onnxl_output_char(out, '[');
    for (size_t i = 0; i < value->n_items; i++) {
      onnxl_output_text(out, i > 0 ? ", " : "");
      print_values(out, value->items[i], summarize_above);
    }
    onnxl_output_char(out, ']');
  }
}

static void
print_value(OnnxlOutput *out, const OnnxlValue *value, int64_t summarize_above)
{
  char *type = onnxl_value_describe(value);
  onnxl_output_text(out, type);
  g_free(type);
  onnxl_output_text(out, " = ");
  print_values(out, value, summarize_above);
}

void
onnxl_value_print(OnnxlOutput *out, const OnnxlValue *value)
{
  print_value(out, value, SUMMARIZE_ABOVE);
}

void
onnxl_value_print_full(OnnxlOutput *out, const OnnxlValue *value)
{
  print_value(out, value, INT64_MAX);
}

void
onnxl_value_print_first(OnnxlOutput *out, const OnnxlValue *tensor, int64_t n)
{
  onnxl_output_char(out, '[');
  for (int64_t i = 0; i < MIN(n, tensor->count); i++) {
    onnxl_output_text(out, i > 0 ? " " : "");
    print_element(out, tensor, i);
  }
  onnxl_output_char(out, ']');
}

static void
json_element(OnnxlJson *json, const OnnxlValue *tensor, int64_t i)
{
  int32_t type = tensor->elem_type;
  if (type == ONNXL_TYPE_STRING)
    onnxl_json_bytes(json, ((const OnnxlStr *)tensor->data)[i]);
  else if (type == ONNXL_TYPE_BOOL)
    onnxl_json_bool(json, onnxl_tensor_int64(tensor, i) != 0);
  else if (type == ONNXL_TYPE_UINT64)
    onnxl_json_uint64(json, (uint64_t)onnxl_tensor_int64(tensor, i));
  else if (onnxl_type_is_integer(type))
    onnxl_json_int64(json, onnxl_tensor_int64(tensor, i));
  else if (onnxl_type_is_complex(type)) {
    const double parts[2] = { onnxl_tensor_part(tensor, 2 * i), onnxl_tensor_part(tensor, 2 * i + 1) };
    onnxl_json_begin_array(json);
    for (int p = 0; p < 2; p++)
      if (type == ONNXL_TYPE_COMPLEX64)
        onnxl_json_float(json, (float)parts[p]);
      else
        onnxl_json_double(json, parts[p]);
    onnxl_json_end_array(json);
  } else if (type == ONNXL_TYPE_DOUBLE)
    onnxl_json_double(json, onnxl_tensor_double(tensor, i));
  else
    onnxl_json_float(json, (float)onnxl_tensor_double(tensor, i));
}

static void
json_items(OnnxlJson *json, const OnnxlValue *value, int64_t limit)
{
  for (size_t i = 0; i < value->n_items && (int64_t)i < limit; i++) {
    onnxl_json_begin_object(json);
    onnxl_value_json_fields(json, value->items[i], limit);
    onnxl_json_end_object(json);
  }
}

static void
json_pairs(OnnxlJson *json, const OnnxlValue *map, int64_t limit)
{
  for (int64_t i = 0; i < map->items[0]->count && i < limit; i++) {
    onnxl_json_begin_array(json);
    json_element(json, map->items[0], i);
    json_element(json, map->items[1], i);
    onnxl_json_end_array(json);
  }
}

void
onnxl_value_json_fields(OnnxlJson *json, const OnnxlValue *value, int64_t limit)
{
  const char *type = value ? onnxl_data_type_name(value->elem_type) : NULL;
  bool has_dims = value && value->kind == ONNXL_KIND_TENSOR;
  onnxl_json_key(json, "dtype");
  onnxl_json_text(json, type);
  onnxl_json_key(json, "shape");
  if (has_dims) {
    onnxl_json_begin_array(json);
    for (uint32_t i = 0; i < value->rank; i++)
      onnxl_json_int64(json, value->dims[i]);
    onnxl_json_end_array(json);
  } else
    onnxl_json_null(json);
  onnxl_json_key(json, "values");
  onnxl_json_begin_array(json);
  if (value && value->kind == ONNXL_KIND_TENSOR)
    for (int64_t i = 0; i < value->count && i < limit; i++)
      json_element(json, value, i);
  else if (value && value->kind == ONNXL_KIND_MAP)
    json_pairs(json, value, limit);
  else if (value)
    json_items(json, value, limit);
  onnxl_json_end_array(json);
}
