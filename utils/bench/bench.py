"""A small frame for benchmarks: alternate the candidates, take medians, print ratios.

A machine that is shared drifts, so candidates are never run one after the other in blocks: each round runs all of them in
turn, and a ratio is the median of the ratios of the rounds.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parser(description):
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--rounds", type=int, default=9)
    result.add_argument("--build", default="build", help="folder of a release build (default: build)")
    result.add_argument("--markdown", action="store_true", help="print a table for docs/performance.md")
    return result


def tool(args, name):
    path = os.path.join(args.build, "tools", name, name)
    if not os.path.exists(path):
        sys.exit("%s is not there: build first" % path)
    return os.path.abspath(path)


def program(args, name):
    """A program of this folder, made now: see meson.build."""
    subprocess.run(["ninja", "-C", args.build, "utils/bench/" + name], check=True, stdout=subprocess.DEVNULL)
    return os.path.abspath(os.path.join(args.build, "utils", "bench", name))


def witness(name, work):
    """A program of this folder over Debian's libonnx-dev, compiled into the folder work; None where that is not installed."""
    out, source = os.path.join(work, name), os.path.join(ROOT, "utils", "bench", name + ".cc")
    if not shutil.which("g++") or not os.path.exists("/usr/include/onnx/shape_inference/implementation.h"):
        return None
    run = subprocess.run(["g++", "-O2", "-w", "-std=gnu++17", "-DONNX_NAMESPACE=onnx", "-DONNX_ML=1", source, "-o", out,
                          "-lonnx", "-lonnx_proto", "-lprotobuf"], stderr=subprocess.DEVNULL, check=False)
    return out if run.returncode == 0 else None


def machine():
    """What the figures were taken on, in one line."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown processor")
    return "%s, %d processors, Linux %s, load %.1f" % (model, os.cpu_count(), os.uname().release, os.getloadavg()[0])


def cpu_seconds(argv):
    """Processor time of one command, user and system, which says more than wall time on a busy machine."""
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("%s: status %d" % (" ".join(argv), process.returncode))
    return usage.ru_utime + usage.ru_stime


def own_seconds(argv):
    """Median of the milliseconds that a program measures itself and prints, one a line."""
    output = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout
    return statistics.median(map(float, output.split())) / 1e3


def seconds(argv, **options):
    """Wall time of one command, which must succeed."""
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - start


def rounds(candidates, count, before=None):
    """candidates: {name: function that returns seconds}. before: called ahead of each. -> {name: [seconds]}"""
    times = {name: [] for name in candidates}
    order = list(candidates)
    for i in range(count + 1):
        for name in order:
            if before:
                before()
            taken = candidates[name]()
            if i:                       # round 0 warms caches up
                times[name].append(taken)
        order.append(order.pop(0))
    return times


class Table:
    """Rows of (what, median, spread, ratio to the base)."""

    def __init__(self, title, markdown):
        self.markdown = markdown
        if markdown:
            print("### %s\n\n| what | median | least to most | ratio |\n|---|---:|---:|---:|" % title)
        else:
            print(title)

    def add(self, name, times, base=None):
        ratio = "" if base is None else "%.3f" % statistics.median(a / b for a, b in zip(times, base))
        cells = (name, "%.2f ms" % (statistics.median(times) * 1e3),
                 "%.2f to %.2f" % (min(times) * 1e3, max(times) * 1e3), ratio)
        print("| %s |" % " | ".join(cells) if self.markdown else "  %-32s %12s  %20s  %7s" % cells, flush=True)

    def end(self):
        print()
