"""A small frame for benchmarks: alternate the candidates, take medians, print ratios.

A machine that is shared drifts, so candidates are never run one after the other in blocks: each round runs all of them in
turn, and a ratio is the median of the ratios of the rounds.
"""
import argparse
import os
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
