// The tasks of codec.c by Debian's libonnx-dev (onnx 1.12, protobuf), with the same arguments and output. bench-format
// compiles it when the package is there; nothing of onnxl depends on it. With "dis", "as" or "copy" and a file to write it is
// the whole process instead: binary to text, text to binary, binary to binary.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <onnx/defs/parser.h>
#include <onnx/defs/printer.h>
#include <onnx/onnx_pb.h>

static double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

// onnx 1.12 prints graphs, and models only in its Python package.
static std::string print(const onnx::ModelProto& model) {
  std::ostringstream out;
  out << "<ir_version: " << model.ir_version() << ", opset_import: [\"\" : " << model.opset_import(0).version() << "]>\n"
      << model.graph();
  return out.str();
}

static bool parse_text(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  onnx::Common::Status status = parser.Parse(model);
  if (!status.IsOK())
    std::fprintf(stderr, "codec-libonnx: %.500s\n", status.ErrorMessage().c_str());
  return status.IsOK();
}

// Returns the exit status.
static int convert(const std::string& input, const std::string& task, const char* path) {
  onnx::ModelProto model;
  std::string output;
  if (task == "as") {
    onnx::OnnxParser parser(input.c_str());
    if (!parser.Parse(model).IsOK())
      return 2;
  } else if (!model.ParseFromString(input)) {
    return 2;
  }
  if (task == "dis")
    output = print(model);
  else if (!model.SerializeToString(&output))
    return 2;
  std::ofstream out(path, std::ios::binary);
  return out.write(output.data(), output.size()) && out.flush() ? 0 : 2;
}

int main(int argc, char** argv) {
  if (argc != 4)
    return 2;
  std::ifstream file(argv[1], std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  const std::string bytes = content.str();
  const std::string task = argv[2];
  if (task == "dis" || task == "as" || task == "copy")
    return convert(bytes, task, argv[3]);
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes))
    return 2;
  const std::string text = print(model);
  for (int rounds = std::atoi(argv[3]); rounds > 0; rounds--) {
    bool ok = true;
    double start = milliseconds();
    if (std::strcmp(argv[2], "parse") == 0) {
      onnx::ModelProto other;
      ok = other.ParseFromString(bytes);
    } else if (std::strcmp(argv[2], "serialize") == 0) {
      std::string out;
      ok = model.SerializeToString(&out);
    } else if (std::strcmp(argv[2], "print") == 0) {
      ok = !print(model).empty();
    } else if (std::strcmp(argv[2], "parse-text") == 0) {
      ok = parse_text(text);
    } else {
      return 2;
    }
    if (!ok)
      return 2;
    std::printf("%.3f\n", milliseconds() - start);
  }
  return 0;
}
