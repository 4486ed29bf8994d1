"""Runs onnxl-exec --test over many case folders, and judges the results against expected-pass.txt."""
import concurrent.futures
import os
import re
import selectors
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import tally                                    # noqa: E402  (in the folder above)

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected-pass.txt")
WRONG_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrong-data.txt")
RESULT = re.compile(r"(PASS|FAIL|UNSUPPORTED) [^\s:]*:? ?(.*)")
BATCH = 100             # folders a process


def exec_test(tool, folders, timeout):
    """One process. -> (results in the order of folders, what went wrong or None); shorter when it died."""
    process = subprocess.Popen([tool, "--test"] + folders, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    results, pending, errors = [], b"", b""
    with selectors.DefaultSelector() as streams:
        for stream in (process.stdout, process.stderr):
            streams.register(stream, selectors.EVENT_READ)
        last = time.monotonic()
        while streams.get_map():
            ready = streams.select(max(0.0, last + timeout - time.monotonic()))
            if not ready:
                process.kill()
                process.wait()
                return results, "no result in %d s" % timeout
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    streams.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    errors += data
                else:
                    last = time.monotonic()
                    pending += data
                    *lines, pending = pending.split(b"\n")
                    for line in lines:
                        match = RESULT.match(line.decode("utf-8", "replace"))
                        if match and len(results) < len(folders):
                            results.append(match.groups())
    status = process.wait()
    if status in (0, 1) and len(results) == len(folders):
        return results, None
    return results, "status %d: %s" % (status, errors.decode("utf-8", "replace")[-2000:].strip())


def run_batch(tool, folders, timeout):
    """-> a (status, text) for each folder; a process that dies takes only the case it died of with it."""
    done, size = [], len(folders)
    while len(done) < len(folders):
        rest = folders[len(done):len(done) + size]
        results, wrong = exec_test(tool, rest, timeout)
        done += results
        if wrong and len(rest) == 1 and not results:
            done.append(("FAIL", wrong))
            size = len(folders)
        elif wrong and len(results) == len(rest):
            # Every case answered and the process still ended badly (a leak, say): it is charged to the last one.
            done[-1] = ("FAIL", wrong)
        elif wrong:
            size = 1            # results may have been lost in a buffer: find the culprit one by one
    return done


def run_all(tool, cases, jobs, timeout):
    """cases: {name: folder}. -> {name: (status, text)}"""
    names = list(cases)
    batches = [names[i:i + BATCH] for i in range(0, len(names), BATCH)]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for batch, answers in zip(batches, pool.map(lambda b: run_batch(tool, [cases[n] for n in b], timeout), batches)):
            results.update(zip(batch, answers))
    return results


def listed(path):
    """First words of the lines of a list."""
    with open(path, encoding="utf-8") as lines:
        return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def suite(name):
    return name.split("/")[0]


def judge(results, complete=True):
    """Counts results {name: (status, text)} against the expected passes of the same suites.

    A FAIL fails, unless the recorded data are known to be wrong; UNSUPPORTED is skipped, unless the case has passed before. complete: False when cases were left out.
    """
    suites = {suite(name) for name in results}
    expected = {name for name in listed(EXPECTED) if suite(name) in suites}
    wrong_data = listed(WRONG_DATA)
    result, fresh = tally.Tally(), 0
    for name, (status, text) in results.items():
        if name in wrong_data and status != "PASS":
            result.skip()
        elif status == "FAIL":
            result.fail(name, text)
        elif status == "UNSUPPORTED" and name in expected:
            result.fail(name, "expected to pass, is unsupported: %s" % text)
        elif status == "UNSUPPORTED":
            result.skip()
        else:
            result.ok()
            fresh += name not in expected
    lacking = expected - results.keys() if complete else ()
    if lacking:
        # Another version of the package may lack a case.
        result.skip(len(lacking), "%d expected cases are not here, such as %s" % (len(lacking), min(lacking)))
    if fresh:
        print("note: %d cases pass that %s does not list; add them with --bless" % (fresh, os.path.basename(EXPECTED)))
    return result


def bless(results):
    """Rewrites the expected passes of the suites that were run."""
    suites = {suite(name) for name in results}
    with open(EXPECTED, encoding="utf-8") as lines:
        lines = lines.read().splitlines()
    names = {name for name in lines if not name.startswith("#") and suite(name) not in suites}
    names |= {name for name, (status, _) in results.items() if status == "PASS"}
    with open(EXPECTED, "w", encoding="utf-8") as out:
        out.write("\n".join([line for line in lines if line.startswith("#")] + sorted(names)) + "\n")
