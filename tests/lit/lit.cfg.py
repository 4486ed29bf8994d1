"""The golden tests: one .test file holds the input, the commands and what must come out.

The tools of the build folder come first in PATH, then FileCheck, not, count and split-file of LLVM.
Substitutions of our own:
  %inputs   tests/Inputs
  %golden   tests/Inputs/golden
  %same     compares standard input with a golden file, see tests/same-text
  %refuses  runs a command that must fail, see tests/refuses
  %op-errors  runs nodes that must fail, see tests/op-errors
  %tests, %utils, %build   those folders
  %shared   the data that are too large for the repository; tests that need them say "REQUIRES: shared"
  %python   the interpreter that runs lit
"""
import glob
import os
import re
import shutil
import subprocess
import sys

import lit.formats

source = config.onnxl_source_root
build = config.onnxl_build_root

config.name = "onnxl"
# lit's own timeout needs a Python module that is not part of the standard library: the script starts itself anew in timeout(1).
config.test_format = lit.formats.ShTest(execute_external=True, preamble_commands=[
    '[ -n "$TIMED" ] || TIMED=1 exec timeout --verbose 300 bash "$0"',
])
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(source, "tests", "lit")
config.test_exec_root = os.path.join(build, "tests", "lit")


def llvm_tools():
    """The newest folder that holds FileCheck and its companions."""
    found = []
    for folder in glob.glob("/usr/lib/llvm-*/bin"):
        if os.path.exists(os.path.join(folder, "FileCheck")):
            found.append((int(re.search(r"llvm-(\d+)", folder).group(1)), folder))
    if not found:
        lit_config.fatal("FileCheck not found: install llvm-14-tools (utils/install-packages test)")
    return max(found)[1]


tools = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(build, "tools", "*", "onnxl-*"))
               if os.path.isfile(path) and os.access(path, os.X_OK))
config.environment["PATH"] = os.pathsep.join(tools + [llvm_tools(), os.environ.get("PATH", "")])

for name in ("HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["LC_ALL"] = "C"

inputs = os.path.join(source, "tests", "Inputs")
shared = os.path.realpath(os.environ.get("ONNXL_SHARED", os.path.join(source, "..", "shared")))
if os.path.isdir(os.path.join(shared, "models")):
    config.available_features.add("shared")
config.substitutions += [
    ("%shared", shared),
    ("%inputs", inputs),
    ("%golden", os.path.join(inputs, "golden")),
    ("%same", os.path.join(source, "tests", "same-text")),
    ("%refuses", os.path.join(source, "tests", "refuses")),
    ("%op-errors", os.path.join(source, "tests", "op-errors")),
    ("%python", sys.executable),
    ("%utils", os.path.join(source, "utils")),
    ("%tests", os.path.join(source, "tests")),
    ("%build", build),
]

try:
    for end in os.openpty():
        os.close(end)
    config.available_features.add("terminal")
except OSError:         # a container without /dev/pts
    pass
if config.onnxl_sanitized:
    config.available_features.add("sanitizer")
if shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL,
                                             check=False).returncode == 0:
    config.available_features.add("strace")
if os.geteuid() == 0 and os.path.exists("/dev/loop-control") and shutil.which("mkfs.xfs"):
    config.available_features.add("loop-mount")
