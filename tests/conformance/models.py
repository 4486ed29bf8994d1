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


# The typed fields of TensorProto, with the bytes of an element in raw_data, which depend on the type for some.
TYPED = {"float_data": 4, "double_data": 8, "int32_data": 4, "int64_data": 8, "uint64_data": 8}
FLOAT16, UINT16, INT16, BFLOAT16, INT32, UINT32 = 10, 4, 5, 16, 6, 12


def raw(name, values, data_type):
    """raw_data with the values of a typed field."""
    if isinstance(values[0], bytes):
        return b"".join(values)
    width = TYPED[name]
    if name == "int32_data" and data_type != INT32:
        width = 2 if data_type in (FLOAT16, UINT16, INT16, BFLOAT16) else 1
    elif name == "uint64_data" and data_type == UINT32:
        width = 4
    return b"".join((value % (1 << 8 * width)).to_bytes(width, "little") for value in values)


def as_raw(message):
    """The message with all tensors as they come back from external data: typed values are raw then."""
    if isinstance(message, list):
        return [as_raw(item) for item in message]
    if not isinstance(message, dict):
        return message
    result = {name: as_raw(value) for name, value in message.items()}
    if result.get("data_location") == 0:
        del result["data_location"]
    for name in TYPED.keys() & result.keys():
        result["raw_data"] = raw(name, result.pop(name), result["data_type"])
    return result


def holds(message, name):
    """True when a field of this name has bytes or numbers anywhere in the message."""
    if isinstance(message, list):
        return any(holds(item, name) for item in message)
    return isinstance(message, dict) and (bool(message.get(name)) or any(holds(v, name) for v in message.values()))


def moved(tools, model, tmp):
    """Weights go out, are aligned anew, and come in again: the model is what it was."""
    paths = [os.path.join(tmp, name) for name in ("out.onnx", "aligned.onnx", "in.onnx")]
    for source, target, options in zip([model, *paths], paths,
                                       (["--to=external", "-a", "64"], ["--order=size"], ["--to=inline"])):
        run([tools["align"], "--no-fsync", *options, "-o", target, source])
    run([tools["align"], "--check", paths[1]])
    parsed = []
    for path in (model, paths[1], paths[2]):
        with open(path, "rb") as file:
            parsed.append(wire.parse(file.read()))
    inline = [name for name in ("raw_data", *TYPED) if holds(parsed[1], name)]
    if inline:
        return "%s is still in the model after --to=external" % inline[0]
    found = wire.difference(as_raw(parsed[0]), parsed[2])
    return "out, aligned, in: " + found if found else None
