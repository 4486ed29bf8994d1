#include "stream/payload-internal.h"

#include "model-text.h"

static const char *const texts[] = {
  "g () => () <int64[5] w = {-1, 5, 300, -9223372036854775807, 0}> { }",
  "g () => () <int32[4] w = {-1, 2147483647, 0, 128}> { }",
  "g () => () <int8[7] w = {-128, 127, 0, 1, 2, 3, -1}> { }",
  "g () => () <uint16[3] w = {65535, 1, 256}> { }",
  "g () => () <uint64[2] w = {18446744073709551615, 7}> { }",
  "g () => () <bool[3] w = {1, 0, 1}> { }",
  "g () => () <int4[5] w = {225, 3, 7}> { }",
  "g () => () <float16[2] w = {15360, 1}> { }",
  "g () => () <float[3] w = {1.0, -2.5, 0.0}> { }",
  "g () => () <double[2] w = {1.0, -2.5}> { }",
  "g () => () <complex64[1] w = {1.0, 2.0}> { }",
  "#: raw\ng () => () <float[3] w = {1.0, -2.5, 0.0}> { }",
};

static bool
payload_of(TextModel *t, OnnxlTensorView *view, OnnxlPayload *payload)
{
  if (!onnxl_tensor_view(&t->model->proto.graph->initializer.items[0], NULL, t->sink, view, NULL))
    return false;
  *payload = onnxl_payload_inline(t->model, view);
  return true;
}

/* Blocks of every size give the bytes that decoding gives at once. */
static void
test_blocks(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    TextModel t = text_model(texts[i]);
    OnnxlTensorView view;
    OnnxlPayload payload;
    char expected[64], bytes[64];
    CU_ASSERT_TRUE_FATAL(payload_of(&t, &view, &payload));
    CU_ASSERT_TRUE_FATAL(view.bytes <= sizeof expected && onnxl_tensor_decode(&view, expected));
    CU_ASSERT_EQUAL(payload.length, view.bytes);
    for (size_t block = 1; block <= view.bytes + 1; block++) {
      OnnxlPayloadReader reader = onnxl_payload_reader(&payload);
      size_t used = 0;
      ssize_t n;
      while ((n = onnxl_payload_read(&reader, bytes + used, MIN(block, sizeof bytes - used), NULL)) > 0)
        used += (size_t)n;
      CU_ASSERT_EQUAL(n, 0);
      CU_ASSERT_EQUAL_FATAL(used, view.bytes);
      CU_ASSERT_EQUAL(memcmp(bytes, expected, used), 0);
    }
    text_model_clear(&t);
  }
}

static void
check_pair(const char *left, const char *right, bool equal)
{
  TextModel t[2] = { text_model(left), text_model(right) };
  OnnxlTensorView views[2];
  OnnxlPayload payloads[2];
  uint64_t hashes[2];
  bool same;

  for (int i = 0; i < 2; i++) {
    CU_ASSERT_TRUE_FATAL(payload_of(&t[i], &views[i], &payloads[i]));
    CU_ASSERT_TRUE(onnxl_payload_hash(&payloads[i], &hashes[i], NULL));
  }
  CU_ASSERT_EQUAL_FATAL(payloads[0].length, payloads[1].length);
  CU_ASSERT_TRUE(onnxl_payload_equal(&payloads[0], &payloads[1], &same, NULL));
  CU_ASSERT_EQUAL(same, equal);
  CU_ASSERT_EQUAL(hashes[0] == hashes[1], equal);
  for (int i = 0; i < 2; i++)
    text_model_clear(&t[i]);
}

static void
test_equality(void)
{
  /* The bytes count, not the type nor the field. */
  check_pair(texts[8], texts[11], true);
  check_pair("g () => () <int32[2] w = {1, 0}> { }", "g () => () <int64[1] w = {1}> { }", true);
  check_pair("g () => () <int32[2] w = {1, 0}> { }", "g () => () <int32[2] w = {0, 1}> { }", false);
  check_pair("g () => () <float[1] w = {0.0}> { }", "g () => () <float[1] w = {-0.0}> { }", false);
}

UNIT_MAIN("payload", { "blocks", test_blocks }, { "equality", test_equality })
