// Shape inference by Debian's libonnx-dev (onnx 1.12): the whole way from a file to an annotated file, as onnxl-shapes
// goes it. bench-shapes compiles it when the package is there; nothing of onnxl depends on it.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

static double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  std::ifstream file(argv[1], std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  onnx::ModelProto model;
  if (!model.ParseFromString(content.str()))
    return 2;
  double start = milliseconds();
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     onnx::ShapeInferenceOptions{true, 0, true});
  std::printf("%.3f\n", milliseconds() - start);
  std::ofstream out(argv[2], std::ios::binary);
  return model.SerializeToOstream(&out) ? 0 : 2;
}
