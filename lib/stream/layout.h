/* Whether the external data of a model lie where and how they should. Files are opened and measured; payloads are read
 * for checksums only. */
#ifndef ONNXL_STREAM_LAYOUT_H
#define ONNXL_STREAM_LAYOUT_H

#include "stream/external.h"

typedef struct OnnxlLayoutOptions {
  uint64_t alignment; /* that every offset must have, bytes, a power of two */
  bool checksum;      /* compare checksum entries with the files */
} OnnxlLayoutOptions;

/* An external tensor whose range lies in its file. */
typedef struct OnnxlLayoutTensor {
  OnnxlStr name;
  uint32_t file; /* index into OnnxlLayout.files */
  uint64_t offset;
  uint64_t length; /* bytes, as the entries say */
  uint64_t needed; /* bytes, as dims and type say */
  bool aligned;
} OnnxlLayoutTensor;

typedef struct OnnxlLayoutFile {
  const char *location;
  uint64_t size;     /* bytes */
  uint32_t tensors;  /* that lie in it */
  uint32_t overlaps; /* of these, that overlap an earlier one in part; tensors of the same range share it */
  uint64_t used;     /* bytes that at least one tensor has */
  uint64_t shared;   /* bytes that would be needed more if no tensor shared any */
} OnnxlLayoutFile;

typedef struct OnnxlLayout {
  OnnxlLayoutTensor *tensors; /* in model order */
  size_t n_tensors;
  OnnxlLayoutFile *files; /* in the order in which the model names them */
  size_t n_files;
} OnnxlLayout;

/* Looks at all external tensors and reports what is wrong as findings: files that cannot be opened, ranges outside of
 * their file, lengths that are not what dims and type need, offsets that are not aligned, checksums that differ; as
 * warnings ranges that overlap in part. Everything in *ret_layout lives in the model's arena, locations as long as
 * files. Returns false with ONNXL_ERROR_INVALID after findings of severity error; *ret_layout is filled even then. */
bool onnxl_layout_check(OnnxlModel *model, OnnxlExternalFiles *files, const OnnxlLayoutOptions *options,
                        OnnxlDiagSink *sink, OnnxlLayout *ret_layout, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
