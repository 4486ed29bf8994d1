/* Inference over models written as text. */
#ifndef ONNXL_TESTS_SHAPES_TEXT_H
#define ONNXL_TESTS_SHAPES_TEXT_H

#include "model-text.h"
#include "shapes/infer.h"

typedef struct TextShapes {
  TextModel text;
  OnnxlInference *inference; /* NULL when there are errors */
} TextShapes;

static inline TextShapes
text_shapes_with(const char *text, const OnnxlInferOptions *options)
{
  TextShapes t = { text_model(text), NULL };
  t.inference = onnxl_infer(t.text.model, options, t.text.model->arena, t.text.sink, &t.text.error);
  return t;
}

static inline TextShapes
text_shapes(const char *text)
{
  return text_shapes_with(text, &(OnnxlInferOptions){ 0 });
}

static inline void
text_shapes_clear(TextShapes *t)
{
  onnxl_inference_free(t->inference);
  text_model_clear(&t->text);
}

static inline uint32_t
value_named(const OnnxlInference *inference, const char *name)
{
  for (uint32_t i = 0; i < inference->index->n_values; i++)
    if (onnxl_str_is(inference->index->values[i].name, name))
      return i;
  return ONNXL_NONE;
}

/* Expects the type and shape of a value, as onnxl-shapes --print shows them. */
static inline void
check_shape(const TextShapes *t, const char *name, const char *expected)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(t->inference);
  uint32_t value = value_named(t->inference, name);
  CU_ASSERT_NOT_EQUAL_FATAL(value, ONNXL_NONE);
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_info_print(&out, &t->inference->values[value], onnxl_inference_shown_dims(t->inference, value));
  OnnxlStr text = onnxl_output_memory(&out);
  if (!onnxl_str_is(text, expected))
    fprintf(stderr, "%s: %.*s, expected %s\n", name, ONNXL_ARG(text), expected ? expected : "nothing");
  CU_ASSERT_TRUE(onnxl_str_is(text, expected));
  onnxl_output_clear(&out);
}

/* Values of the symbols "A", "B", …, in order. */
static inline bool
letter_value(void *data, OnnxlStr name, int64_t *ret_value)
{
  if (name.size != 1 || name.data[0] < 'A' || name.data[0] > 'Z')
    return false;
  *ret_value = ((const int64_t *)data)[name.data[0] - 'A'];
  return true;
}

#endif
