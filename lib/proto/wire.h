/* The binary format: protobuf's wire encoding, read in one pass over the mapped input and written with 64-bit lengths.
 */
#ifndef ONNXL_PROTO_WIRE_H
#define ONNXL_PROTO_WIRE_H

#include "proto/schema.h"

/* Parses bytes into message, a zeroed struct of descriptor, with memory from arena (whose budget is the guard against
 * amplification; when limits name no budget, it shrinks by what turns out to be payload). Strings and payloads are
 * slices of bytes, which must outlive the message. Unknown fields are kept. base: offset of bytes in their file, for
 * locations. Returns false with ONNXL_ERROR_INVALID and a finding at the offset, or ONNXL_ERROR_LIMIT (depth or
 * budget). */
bool onnxl_wire_read(const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint64_t base, const OnnxlLimits *limits,
                     OnnxlArena *arena, void *message, OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for a model of which only tensors matter: nodes are checked, but those of a graph or function in which no
 * node holds a tensor or a graph stay unknown fields of it, which take a tenth of the memory. onnxl_wire_write() puts
 * such fields where the list would stand. */
bool onnxl_wire_read_weights(OnnxlStr bytes, const OnnxlLimits *limits, OnnxlArena *arena, OnnxlModelProto *model,
                             OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Encoded size in bytes; strings and payloads are not read. False on overflow of 64 bits. */
bool onnxl_wire_size(const OnnxlMessageDescriptor *descriptor, const void *message, uint64_t *ret_size);

/* Where encoded bytes go. begin() is told their number first (may be NULL). Small pieces arrive through write(); a
 * slice of at least ONNXL_WIRE_LARGE bytes arrives through payload(), so that it can be copied from file to file by the
 * kernel. All return false to stop. */
#define ONNXL_WIRE_LARGE 65536
typedef struct OnnxlWireTarget {
  bool (*begin)(void *data, uint64_t size);
  bool (*write)(void *data, const void *bytes, size_t size);
  bool (*payload)(void *data, OnnxlStr slice);
  void *data;
} OnnxlWireTarget;

/* Writes the message: fields in the order of onnx.proto, unknown ones last, shortest varints, numbers of packed fields
 * packed: the same message always gives the same bytes. Returns false when the target stopped or memory ran out. */
bool onnxl_wire_write(const OnnxlMessageDescriptor *descriptor, const void *message, const OnnxlWireTarget *target);

/* The 32-bit limit of most protobuf readers: a single file above it needs --allow-large. */
#define ONNXL_WIRE_MAX_PORTABLE ((uint64_t)INT32_MAX)

#endif
