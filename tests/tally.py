"""What every test runner shares: counting, the closing line, and where things lie."""
import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOTHING_HERE = 77       # exit status of a runner whose data are all in ../shared, which is missing


class Tally:
    """Counts results; failures are printed at once, passes are not."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def ok(self, n=1):
        self.passed += n

    def skip(self, n=1, why=None):
        self.skipped += n
        if why:
            print("note: %s" % why, flush=True)

    def fail(self, name, reason="", n=1):
        self.failed += n
        print("FAIL %s%s" % (name, ": " + reason if reason else ""), flush=True)

    def check(self, name, reason):
        """reason: what is wrong, or nothing."""
        if reason:
            self.fail(name, reason)
        else:
            self.ok()

    def finish(self, missing=False):
        """Prints the closing line and exits."""
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        sys.exit(1 if self.failed else NOTHING_HERE if missing else 0)


def arguments(description, shared=False):
    """The parser that all runners use: [-j N] [--shared DIR] BUILD."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    if shared:
        parser.add_argument("--shared", default=os.environ.get("ONNXL_SHARED", os.path.join(ROOT, "..", "shared")),
                            help="folder of the data that are too large for this repository (default: ../shared)")
    parser.add_argument("build", help="build folder")
    return parser


def tool(build, name):
    """Path of a built tool."""
    return os.path.join(os.path.abspath(build), "tools", name, name)
