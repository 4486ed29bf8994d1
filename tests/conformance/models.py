"""Running tools on one model, and the check that text loses nothing."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import wire                                     # noqa: E402  (in the folder above)

TIMEOUT = 300


class Stopped(Exception):
    """A tool ended with a status other than 0: (status, what it said)."""


def run(argv, data=None):
    try:
        process = subprocess.run(argv, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                                 check=False)
    except subprocess.TimeoutExpired:
        raise Stopped(None, "%s: no end in %d s" % (os.path.basename(argv[0]), TIMEOUT)) from None
    if process.returncode:
        raise Stopped(process.returncode, "%s: status %d: %s" % (
            os.path.basename(argv[0]), process.returncode, process.stderr.decode("utf-8", "replace")[-1000:].strip()))
    return process.stdout


def roundtrip(tools, model, tmp):
    again = os.path.join(tmp, "again.onnx")
    text = run([tools["dis"], "--weights=inline", model])
    run([tools["as"], "-o", again, "-"], text)
    found = wire.compare_files(model, again)
    if found:
        return "dis | as: " + found
    if run([tools["dis"], "--weights=inline", again]) != text:
        return "dis | as | dis gives another text"
    return None
