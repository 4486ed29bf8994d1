#include "support/json.h"

#include <math.h>

#include "unit.h"

static bool
wrote(OnnxlOutput *out, const char *expected)
{
  OnnxlStr text = onnxl_output_memory(out);
  bool same = onnxl_str_is(text, expected);
  if (!same)
    printf("\n  wrote %s\n  instead of %s\n", text.data, expected);
  onnxl_output_clear(out);
  return same;
}

static void
write_document(OnnxlJson *json)
{
  onnxl_json_begin_object(json);
  onnxl_json_key(json, "a");
  onnxl_json_begin_array(json);
  onnxl_json_int64(json, INT64_MIN);
  onnxl_json_uint64(json, UINT64_MAX);
  onnxl_json_begin_object(json);
  onnxl_json_end_object(json);
  onnxl_json_begin_array(json);
  onnxl_json_null(json);
  onnxl_json_bool(json, true);
  onnxl_json_end_array(json);
  onnxl_json_end_array(json);
  onnxl_json_key(json, "b");
  onnxl_json_begin_object(json);
  onnxl_json_key(json, "c");
  onnxl_json_text(json, "d");
  onnxl_json_end_object(json);
  onnxl_json_end_object(json);
  onnxl_json_end(json);
}

static void
test_layout(void)
{
  OnnxlOutput out;
  OnnxlJson json;
  onnxl_output_init(&out, -1);
  onnxl_json_init(&json, &out, 0);
  write_document(&json);
  CU_ASSERT_TRUE(
    wrote(&out, "{\"a\": [-9223372036854775808, 18446744073709551615, {}, [null, true]], \"b\": {\"c\": \"d\"}}\n"));
  onnxl_json_init(&json, &out, 2);
  write_document(&json);
  CU_ASSERT_TRUE(wrote(&out,
                       "{\n \"a\": [\n  -9223372036854775808,\n  18446744073709551615,\n  {},\n  [null, true]\n ],\n"
                       " \"b\": {\n  \"c\": \"d\"\n }\n}\n"));
}

static void
test_strings(void)
{
  OnnxlOutput out;
  OnnxlJson json;
  onnxl_output_init(&out, -1);
  onnxl_json_init(&json, &out, 0);
  onnxl_json_string(&json, onnxl_str_n("q\"b\\n\nt\tz\0e\x1b d\x7f", 15));
  CU_ASSERT_TRUE(wrote(&out, "\"q\\\"b\\\\n\\nt\\tz\\u0000e\\u001b d\\u007f\""));
  onnxl_json_init(&json, &out, 0);
  onnxl_json_text(&json, "é€𝄞\xe2\x80\xae\xc2\x85");
  CU_ASSERT_TRUE(wrote(&out, "\"é€𝄞\\u202e\\u0085\""));
  onnxl_json_init(&json, &out, 0);
  onnxl_json_text(&json, "a\xff\xc3");
  CU_ASSERT_TRUE(wrote(&out, "\"a\xef\xbf\xbd\xef\xbf\xbd\""));
  onnxl_json_init(&json, &out, 0);
  onnxl_json_text(&json, NULL);
  CU_ASSERT_TRUE(wrote(&out, "null"));
  onnxl_json_init(&json, &out, 0);
  onnxl_json_begin_array(&json);
  onnxl_json_bytes(&json, ONNXL_STR("ok"));
  onnxl_json_bytes(&json, ONNXL_STR("\xff"));
  onnxl_json_bytes(&json, ONNXL_STR("\xff\xfe"));
  onnxl_json_bytes(&json, ONNXL_STR("\xff\xfe\x01\x02"));
  onnxl_json_end_array(&json);
  CU_ASSERT_TRUE(wrote(&out, "[\"ok\", {\"base64\": \"/w==\"}, {\"base64\": \"//4=\"}, {\"base64\": \"//4BAg==\"}]"));
}

static void
test_numbers(void)
{
  OnnxlOutput out;
  OnnxlJson json;
  onnxl_output_init(&out, -1);
  onnxl_json_init(&json, &out, 0);
  onnxl_json_begin_array(&json);
  onnxl_json_float(&json, 0.1f);
  onnxl_json_double(&json, 0.1f);
  onnxl_json_float(&json, -0.0f);
  onnxl_json_double(&json, 1e300);
  onnxl_json_float(&json, NAN);
  onnxl_json_float(&json, -NAN);
  onnxl_json_double(&json, INFINITY);
  onnxl_json_double(&json, -INFINITY);
  onnxl_json_end_array(&json);
  CU_ASSERT_TRUE(wrote(&out, "[0.1, 0.10000000149011612, -0.0, 1e+300, \"nan\", \"nan\", \"inf\", \"-inf\"]"));
}

UNIT_MAIN("json", { "layout", test_layout }, { "strings", test_strings }, { "numbers", test_numbers })
