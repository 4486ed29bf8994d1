/* Running a random node. */
#ifndef ONNXL_TESTS_RANDOM_RUN_H
#define ONNXL_TESTS_RANDOM_RUN_H

#include "proto/text.h"
#include "random-node.h"
#include "runtime/context-internal.h"
#include "unit.h"

static inline void
show_model(const RandomNode *n, uint64_t seed)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  if (onnxl_text_write(&out, n->model, &(OnnxlTextOptions){ .weights = ONNXL_WEIGHTS_INLINE, .elements = true }, NULL,
                       NULL, NULL)) {
    OnnxlStr text = onnxl_output_memory(&out);
    fprintf(stderr, "%s-%d, seed %" G_GUINT64_FORMAT ":\n%.*s", n->schema->name, n->schema->since, seed,
            ONNXL_ARG(text));
  }
  onnxl_output_clear(&out);
}

static inline OnnxlValue *
make_value(const RandomInput *input, OnnxlAllocator *allocator)
{
  OnnxlValue *items[RANDOM_MAX_ITEMS] = { NULL }, *value = NULL;
  for (uint32_t i = 0; i < input->n_tensors; i++) {
    items[i] = onnxl_value_from_tensor(allocator, NULL, &input->tensors[i], "an input", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(items[i]);
  }
  if (input->given == GIVEN_TENSOR)
    return items[0];
  if (input->given == GIVEN_SEQUENCE)
    value = onnxl_value_new_sequence(allocator, ONNXL_KIND_TENSOR, input->elem_type, items, input->n_tensors);
  else if (input->given == GIVEN_OPTIONAL && input->of_sequence) {
    OnnxlValue *sequence =
      onnxl_value_new_sequence(allocator, ONNXL_KIND_TENSOR, input->elem_type, items, input->n_tensors);
    value = onnxl_value_new_optional(allocator, ONNXL_KIND_SEQUENCE, input->elem_type, sequence);
    onnxl_value_unref(sequence);
  } else if (input->given == GIVEN_OPTIONAL)
    value = onnxl_value_new_optional(allocator, ONNXL_KIND_TENSOR, input->elem_type, items[0]);
  else
    value = onnxl_value_new_map(allocator, items[0], items[1]);
  for (uint32_t i = 0; i < input->n_tensors; i++)
    onnxl_value_unref(items[i]);
  return value;
}

/* The values of the inputs that the executor asks for, each owned. Returns: how many. */
static inline uint32_t
make_inputs(const RandomNode *n, OnnxlAllocator *allocator, OnnxlValue **ret_inputs)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_inputs + n->captures; i++)
    if (n->inputs[i].given > GIVEN_INITIALIZER)
      ret_inputs[count++] = make_value(&n->inputs[i], allocator);
  return count;
}

static inline uint64_t
from_environment(const char *name, uint64_t standard)
{
  const char *text = getenv(name);
  return text ? g_ascii_strtoull(text, NULL, 10) : standard;
}

#endif
