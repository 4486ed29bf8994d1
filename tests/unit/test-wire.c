#include "proto/wire.h"

#include <sys/mman.h>

#include "proto/packed.h"
#include "support/error.h"
#include "unit.h"

typedef struct Result {
  OnnxlArena *arena;
  OnnxlDiagSink *sink;
  GError *error;
  OnnxlModelProto model;
  bool ok;
} Result;

static Result
read_limited(OnnxlStr bytes, uint32_t max_depth, size_t budget)
{
  Result result = { .arena = onnxl_arena_new(budget), .sink = onnxl_diag_sink_new("test") };
  OnnxlLimits limits = { .max_depth = max_depth };

  result.ok = onnxl_wire_read(&onnxl_model_descriptor, bytes, 0, &limits, result.arena, &result.model, result.sink,
                              &result.error);
  return result;
}

/* Nodes may stay closed. */
static Result
read_weights(OnnxlStr bytes, uint32_t max_depth)
{
  Result result = { .arena = onnxl_arena_new(SIZE_MAX), .sink = onnxl_diag_sink_new("test") };
  OnnxlLimits limits = { .max_depth = max_depth };

  result.ok = onnxl_wire_read_weights(bytes, &limits, result.arena, &result.model, result.sink, &result.error);
  return result;
}

static Result
read_bytes(OnnxlStr bytes)
{
  return read_limited(bytes, 200, SIZE_MAX);
}

static void
clear(Result *result)
{
  onnxl_arena_free(result->arena);
  onnxl_diag_sink_free(result->sink);
  g_clear_error(&result->error);
}

static bool
append(void *data, const void *bytes, size_t size)
{
  g_byte_array_append(data, bytes, (guint)size);
  return true;
}

static bool
append_payload(void *data, OnnxlStr slice)
{
  return append(data, slice.data, slice.size);
}

static GByteArray *
write_bytes(const OnnxlModelProto *model)
{
  GByteArray *bytes = g_byte_array_new();
  OnnxlWireTarget target = { NULL, append, append_payload, bytes };
  uint64_t size = 0;

  CU_ASSERT_TRUE(onnxl_wire_write(&onnxl_model_descriptor, model, &target));
  CU_ASSERT_TRUE(onnxl_wire_size(&onnxl_model_descriptor, model, &size));
  CU_ASSERT_EQUAL(size, bytes->len);
  return bytes;
}

#define BYTES(...) onnxl_str_n((const char[]){ __VA_ARGS__ }, sizeof((const char[]){ __VA_ARGS__ }))

static void
test_presence(void)
{
  /* ir_version 0, producer_name "", a graph with nothing in it. */
  Result r = read_bytes(BYTES(0x08, 0x00, 0x12, 0x00, 0x3a, 0x00));

  CU_ASSERT_TRUE_FATAL(r.ok);
  CU_ASSERT(r.model.has_ir_version && r.model.ir_version == 0);
  CU_ASSERT(r.model.producer_name.data != NULL && r.model.producer_name.size == 0);
  CU_ASSERT_PTR_NULL(r.model.domain.data);
  CU_ASSERT_PTR_NOT_NULL(r.model.graph);
  GByteArray *again = write_bytes(&r.model);
  CU_ASSERT_EQUAL(again->len, 6);
  g_byte_array_free(again, TRUE);
  clear(&r);
}

static void
test_unknown_fields(void)
{
  /* Field 100: varint 5; fixed64; bytes "x"; a group with a varint in it; fixed32. Field 1 with the wire type of bytes.
   */
  OnnxlStr bytes = BYTES(0xa0 - 256, 0x06, 5, 0xa1 - 256, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 0xa2 - 256, 0x06, 1, 'x',
                         0xa3 - 256, 0x06, 0x08, 0x01, 0xa4 - 256, 0x06, 0xa5 - 256, 0x06, 1, 2, 3, 4, 0x0a, 1, 'y');
  Result r = read_bytes(bytes);

  CU_ASSERT_TRUE_FATAL(r.ok);
  CU_ASSERT_EQUAL_FATAL(r.model.message.unknown.count, 6);
  CU_ASSERT_EQUAL(r.model.message.unknown.items[0].value, 5);
  CU_ASSERT_EQUAL(r.model.message.unknown.items[3].bytes.size, 2);
  CU_ASSERT_FALSE(r.model.has_ir_version);
  GByteArray *again = write_bytes(&r.model);
  CU_ASSERT_TRUE(onnxl_str_equal(bytes, onnxl_str_n((char *)again->data, again->len)));
  g_byte_array_free(again, TRUE);
  clear(&r);
}

static void
test_lists_of_numbers(void)
{
  /* graph { initializer { dims: 2, packed dims: 3 4, float_data unpacked 1.0, then packed 1.0; int64_data: packed 1,
   * single 300 } } */
  OnnxlStr bytes = BYTES(0x3a, 29, 0x2a, 27, 0x08, 2, 0x0a, 2, 3, 4, 0x25, 0, 0, 0x80 - 256, 0x3f, 0x22, 4, 0, 0,
                         0x80 - 256, 0x3f, 0x3a, 1, 1, 0x38, 0xac - 256, 2, 0x10, 1, 0x10, 7);
  Result r = read_bytes(bytes);

  CU_ASSERT_TRUE_FATAL(r.ok);
  const OnnxlTensor *t = &r.model.graph->initializer.items[0];
  CU_ASSERT_EQUAL_FATAL(t->dims.count, 3);
  CU_ASSERT(t->dims.items[0] == 2 && t->dims.items[1] == 3 && t->dims.items[2] == 4);
  CU_ASSERT_EQUAL(t->float_data.bytes.size, 8);
  CU_ASSERT_EQUAL(t->int64_data.bytes.size, 3);
  CU_ASSERT_EQUAL(t->data_type, 7); /* the last one counts */
  const char *at = t->int64_data.bytes.data, *end = at + t->int64_data.bytes.size;
  uint64_t value = 0;
  CU_ASSERT(onnxl_packed_varint(&at, end, &value) && value == 1);
  CU_ASSERT(onnxl_packed_varint(&at, end, &value) && value == 300);
  clear(&r);
}

static void
test_scattered_lists(void)
{
  /* node { input a, output b, input c, input d, output e, unknown 31: 1, input f, unknown 30: 2 } */
  Result r = read_bytes(BYTES(0x3a, 28, 0x0a, 26, 0x0a, 1, 'a', 0x12, 1, 'b', 0x0a, 1, 'c', 0x0a, 1, 'd', 0x12, 1, 'e',
                              0xf8 - 256, 1, 1, 0x0a, 1, 'f', 0xf0 - 256, 1, 2, 0x1a, 0));

  CU_ASSERT_TRUE_FATAL(r.ok);
  const OnnxlNode *node = &r.model.graph->node.items[0];
  CU_ASSERT_EQUAL_FATAL(node->input.count, 4);
  CU_ASSERT_EQUAL_FATAL(node->output.count, 2);
  CU_ASSERT_EQUAL_FATAL(node->message.unknown.count, 2);
  for (size_t i = 0; i < 4; i++)
    CU_ASSERT(node->input.items[i].size == 1 && node->input.items[i].data[0] == "acdf"[i]);
  CU_ASSERT(node->output.items[0].data[0] == 'b' && node->output.items[1].data[0] == 'e');
  CU_ASSERT(node->message.unknown.items[0].number == 31 && node->message.unknown.items[1].value == 2);
  CU_ASSERT(node->name.data && node->name.size == 0);
  clear(&r);
}

/* Two lists that take turns are counted once, not once an item. */
static void
test_scattered_is_linear(void)
{
  GByteArray *bytes = g_byte_array_new();
  enum { N = 20000 };
  guint8 head[] = { 0x3a, 0x80, 0xf1, 0x04 }, turn[] = { 0x2a, 0x00, 0x0a, 0x00 };
  g_byte_array_append(bytes, head, sizeof head);
  for (int i = 0; i < N; i++)
    g_byte_array_append(bytes, turn, sizeof turn);
  head[1] = 0x80 | (4 * N & 0x7f), head[2] = 0x80 | (4 * N >> 7 & 0x7f), head[3] = 4 * N >> 14;
  memcpy(bytes->data, head, sizeof head);
  Result r = read_limited(onnxl_str_n((char *)bytes->data, bytes->len), 200, 32 << 20);

  CU_ASSERT_TRUE_FATAL(r.ok);
  CU_ASSERT_EQUAL(r.model.graph->node.count, N);
  CU_ASSERT_EQUAL(r.model.graph->initializer.count, N);
  clear(&r);
  g_byte_array_free(bytes, TRUE);
}

static void
test_oneof_and_merge(void)
{
  /* Two graph fields are one graph; in a dimension the later member of the oneof wins. */
  Result r = read_bytes(
    BYTES(0x3a, 3, 0x12, 1, 'g', 0x3a, 15, 0x5a, 13, 0x12, 11, 0x0a, 9, 0x12, 7, 0x0a, 5, 0x08, 5, 0x12, 1, 'N'));

  CU_ASSERT_TRUE_FATAL(r.ok);
  CU_ASSERT_TRUE(onnxl_str_is(r.model.graph->name, "g"));
  CU_ASSERT_EQUAL_FATAL(r.model.graph->input.count, 1);
  const OnnxlDimension *dim = &r.model.graph->input.items[0].type->tensor_type->shape->dim.items[0];
  CU_ASSERT_FALSE(dim->has_dim_value);
  CU_ASSERT_TRUE(onnxl_str_is(dim->dim_param, "N"));
  clear(&r);
}

/* Expects a finding of the id at the offset. */
static void
check_bad(OnnxlStr bytes, OnnxlDiagId id, uint64_t offset)
{
  Result r = read_bytes(bytes);

  CU_ASSERT_FALSE(r.ok);
  CU_ASSERT_TRUE(g_error_matches(r.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CU_ASSERT_EQUAL_FATAL(onnxl_diag_count(r.sink), 1);
  CU_ASSERT_EQUAL(onnxl_diag_get(r.sink, 0)->id, id);
  CU_ASSERT_EQUAL(onnxl_diag_get(r.sink, 0)->location.offset, offset);
  clear(&r);
}

static void
test_malformed(void)
{
  check_bad(BYTES(0x3a, 4, 0x12, 5, 'g', 'h'), ONNXL_DIAG_TRUNCATED, 2); /* longer than the message around it */
  check_bad(BYTES(0x3a, 100), ONNXL_DIAG_TRUNCATED, 0);
  check_bad(BYTES(0x08), ONNXL_DIAG_TRUNCATED, 1);
  check_bad(BYTES(0x08, 0x80 - 256), ONNXL_DIAG_TRUNCATED, 1);
  check_bad(BYTES(0x00, 1), ONNXL_DIAG_WIRE, 0);                           /* field 0 */
  check_bad(BYTES(0x08, 1, 0x0f, 1), ONNXL_DIAG_WIRE, 2);                  /* wire type 7 */
  check_bad(BYTES(0x0c), ONNXL_DIAG_WIRE, 0);                              /* an end without a start */
  check_bad(BYTES(0x0b, 0x08, 1), ONNXL_DIAG_TRUNCATED, 0);                /* a group without an end */
  check_bad(BYTES(0x0b, 0x14), ONNXL_DIAG_WIRE, 1);                        /* the end of another group */
  check_bad(BYTES(0x3a, 5, 0x2a, 3, 0x22, 1, 0), ONNXL_DIAG_TRUNCATED, 4); /* a float of one byte */
  check_bad(BYTES(0x08, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256,
                  0xff - 256, 0xff - 256, 1),
            ONNXL_DIAG_WIRE, 1); /* eleven bytes */
#define ELEVEN                                                                                                \
  0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, 0xff - 256, \
    0xff - 256, 1
  /* The same in packed lists: dims, which are decoded, and int64_data, which stay as they are. */
  check_bad(BYTES(0x3a, 16, 0x2a, 14, 0x0a, 12, 1, ELEVEN), ONNXL_DIAG_WIRE, 7);
  check_bad(BYTES(0x3a, 16, 0x2a, 14, 0x3a, 12, 1, ELEVEN), ONNXL_DIAG_WIRE, 7);
#undef ELEVEN
}

static void
test_depth(void)
{
  /* attribute.g.node.attribute.g…: each round three messages deeper. */
  GByteArray *bytes = g_byte_array_new();
  for (int round = 0; round < 20; round++) {
    GByteArray *outer = g_byte_array_new();
    guint8 tags[] = { 0x0a, (guint8)(bytes->len + 4) };
    guint8 attribute[] = { 0x2a, (guint8)(bytes->len + 2), 0x32, (guint8)bytes->len };
    g_byte_array_append(outer, tags, 2);
    g_byte_array_append(outer, attribute, 4);
    g_byte_array_append(outer, bytes->data, bytes->len);
    g_byte_array_free(bytes, TRUE);
    bytes = outer;
  }
  guint8 graph[] = { 0x3a, (guint8)bytes->len };
  g_byte_array_prepend(bytes, graph, 2);
  OnnxlStr input = onnxl_str_n((char *)bytes->data, bytes->len);

  Result r = read_limited(input, 61, SIZE_MAX);
  CU_ASSERT_TRUE(r.ok);
  clear(&r);
  r = read_limited(input, 60, SIZE_MAX);
  CU_ASSERT_FALSE(r.ok);
  CU_ASSERT_TRUE(g_error_matches(r.error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  clear(&r);
  g_byte_array_free(bytes, TRUE);
}

static void
test_budget(void)
{
  /* 10,000 empty nodes of two bytes each need some 200 times their size. */
  GByteArray *bytes = g_byte_array_new();
  guint8 head[] = { 0x3a, 0xa0, 0x9c, 0x01 }, node[] = { 0x0a, 0x00 };
  g_byte_array_append(bytes, head, sizeof head);
  for (int i = 0; i < 10000; i++)
    g_byte_array_append(bytes, node, sizeof node);
  OnnxlStr input = onnxl_str_n((char *)bytes->data, bytes->len);

  Result r = read_limited(input, 200, 64 << 20);
  CU_ASSERT_TRUE(r.ok);
  CU_ASSERT_EQUAL(r.model.graph->node.count, 10000);
  clear(&r);
  r = read_limited(input, 200, 1 << 20);
  CU_ASSERT_FALSE(r.ok);
  CU_ASSERT_TRUE(g_error_matches(r.error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  clear(&r);
  g_byte_array_free(bytes, TRUE);
}

/* Reading bytes for their weights tells the same faults, and what is written then is the model that full was read into.
 */
static void
check_weights(const Result *full, OnnxlStr bytes, uint32_t max_depth)
{
  Result weights = read_weights(bytes, max_depth);

  CU_ASSERT_EQUAL(weights.ok, full->ok);
  if (weights.ok && full->ok) {
    GByteArray *again = write_bytes(&weights.model);
    Result second = read_bytes(onnxl_str_n((char *)again->data, again->len));
    CU_ASSERT_TRUE(second.ok && onnxl_message_equal(&onnxl_model_descriptor, &full->model, &second.model));
    clear(&second);
    g_byte_array_free(again, TRUE);
  }
  clear(&weights);
}

/* Random bytes, and a valid start with random changes: any answer but a crash. */
static void
test_random_bytes(void)
{
  guint32 seed = 20;
  GRand *rand = g_rand_new_with_seed(seed);
  const guint8 start[] = { 0x08, 8, 0x3a, 12, 0x0a, 10, 0x0a, 1, 'x', 0x12, 1, 'y', 0x22, 3, 'N', 'e', 'g' };

  for (int round = 0; round < 20000; round++) {
    guint8 bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++)
      bytes[i] = (guint8)(round % 2 ? g_rand_int(rand) : start[i % sizeof start]);
    for (int i = 0; i < 3; i++)
      bytes[g_rand_int_range(rand, 0, sizeof bytes)] = (guint8)g_rand_int(rand);
    OnnxlStr input = onnxl_str_n((char *)bytes, (size_t)g_rand_int_range(rand, 0, sizeof bytes + 1));
    Result r = read_limited(input, 20, 1 << 22);
    CU_ASSERT(r.ok || r.error != NULL);
    if (r.ok) {
      /* What was read can be written, and read again gives the same. */
      GByteArray *again = write_bytes(&r.model);
      Result second = read_bytes(onnxl_str_n((char *)again->data, again->len));
      CU_ASSERT_TRUE(second.ok && onnxl_message_equal(&onnxl_model_descriptor, &r.model, &second.model));
      clear(&second);
      g_byte_array_free(again, TRUE);
    }
    check_weights(&r, input, 20);
    clear(&r);
  }
  g_rand_free(rand);
}

/* model { graph { node {"x" -> "y" : Neg}, the same node, name, initializer, unknown field }, function { name, the
 * same node } } */
static void
test_closed_nodes(void)
{
#define NODE 0x0a, 1, 'x', 0x12, 1, 'y', 0x22, 3, 'N', 'e', 'g'
  OnnxlStr closed = BYTES(0x3a, 35, 0x0a, 11, NODE, 0x0a, 11, NODE, 0x12, 1, 'g', 0x2a, 2, 0x10, 1, 0x42, 0, 0xca - 256,
                          0x01, 16, 0x0a, 1, 'f', 0x3a, 11, NODE);
  Result full = read_bytes(closed), weights = read_weights(closed, 200);

  CU_ASSERT_TRUE_FATAL(full.ok && weights.ok);
  CU_ASSERT_EQUAL(full.model.graph->node.count, 2);
  CU_ASSERT_EQUAL(weights.model.graph->node.count, 0);
  CU_ASSERT_EQUAL(weights.model.graph->initializer.count, 1);
  CU_ASSERT_EQUAL_FATAL(weights.model.functions.count, 1);
  CU_ASSERT_EQUAL(weights.model.functions.items[0].node.count, 0);
  /* Even the bytes are the same: closed nodes stand where the list would. */
  GByteArray *again[] = { write_bytes(&full.model), write_bytes(&weights.model) };
  CU_ASSERT_TRUE(again[0]->len == again[1]->len && memcmp(again[0]->data, again[1]->data, again[0]->len) == 0);
  g_byte_array_free(again[0], TRUE);
  g_byte_array_free(again[1], TRUE);
  clear(&weights);
  clear(&full);

  /* A node with a tensor opens all nodes of its graph; a graph in two pieces keeps their order. */
  OnnxlStr open =
    BYTES(0x3a, 13, 0x0a, 11, NODE, 0x3a, 24, 0x0a, 9, 0x2a, 7, 0x0a, 1, 't', 0x2a, 2, 0x10, 1, 0x0a, 11, NODE);
  full = read_bytes(open);
  weights = read_weights(open, 200);
  CU_ASSERT_TRUE_FATAL(full.ok && weights.ok);
  CU_ASSERT_EQUAL(full.model.graph->node.count, 3);
  CU_ASSERT_EQUAL(weights.model.graph->node.count, 2);
  check_weights(&full, open, 200);
  clear(&weights);
  clear(&full);
#undef NODE
}

/* Strings and payloads, short and long, lie where nobody may read. */
static void
test_size_reads_nothing(void)
{
  enum { SIZE = 64 << 10 };
  static const size_t sizes[] = { 1, 127, 128, 1023, 1024, SIZE };
  char *closed = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint64_t size = 0;

  CU_ASSERT_TRUE_FATAL(closed != MAP_FAILED);
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
    OnnxlTensor tensor = { .raw_data = onnxl_str_n(closed, sizes[i]) };
    CU_ASSERT_TRUE(onnxl_wire_size(&onnxl_tensor_descriptor, &tensor, &size));
    /* The tag, and a length of one, two or three bytes. */
    CU_ASSERT_EQUAL(size, sizes[i] + 2 + (sizes[i] >= 1 << 7) + (sizes[i] >= 1 << 14));
  }
  munmap(closed, SIZE);
}

UNIT_MAIN("wire", { "presence", test_presence }, { "unknown fields", test_unknown_fields },
          { "lists of numbers", test_lists_of_numbers }, { "scattered lists", test_scattered_lists },
          { "scattered lists are linear", test_scattered_is_linear }, { "oneof and merge", test_oneof_and_merge },
          { "malformed", test_malformed }, { "closed nodes", test_closed_nodes }, { "depth", test_depth },
          { "budget", test_budget }, { "the size is counted without reading", test_size_reads_nothing },
          { "random bytes (seed 20)", test_random_bytes })
