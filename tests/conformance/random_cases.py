"""What the outputs of a case with random numbers must fulfil, whatever numbers were drawn: onnxl-exec --test compares only
their types and shapes. Distributions are held to more values by tests/distribution."""
import json
import math
import os
import struct
import subprocess

import models                                   # noqa: F401  (finds tests/wire.py)
import wire

MARK = "is random"              # what onnxl-exec --test says behind the name of a case that passes as one
SIGMAS = 3                      # a mean may be that far off


def read_tensor(path):
    """The values of a recorded float, double or bool tensor."""
    with open(path, "rb") as file:
        tensor = wire.parse(file.read(), "TensorProto")
    code = {1: "f", 9: "?", 11: "d"}[tensor["data_type"]]
    return list(value for value, in struct.iter_unpack("<" + code, tensor["raw_data"]))


def run(tool, folder):
    """-> (inputs, outputs) of the first data set, values by name."""
    with open(os.path.join(folder, "model.onnx"), "rb") as file:
        names = [value["name"].decode() for value in wire.parse(file.read())["graph"]["input"]]
    paths = {name: os.path.join(folder, "test_data_set_0", "input_%d.pb" % i) for i, name in enumerate(names)}
    argv = [tool, "--format=json", os.path.join(folder, "model.onnx")]
    done = subprocess.run(argv + ["--input=%s=@%s" % item for item in paths.items()], stdout=subprocess.PIPE, check=True)
    return ({name: read_tensor(path) for name, path in paths.items()},
            {value["name"]: value["values"] for value in json.loads(done.stdout)["outputs"]})


def far_off(ones, shares):
    """The number of ones that came out is not what their shares let expect."""
    return abs(ones - sum(shares)) > SIGMAS * math.sqrt(sum(p * (1 - p) for p in shares)) + 1e-9


def bernoulli(inputs, outputs, is_function):
    # The standard's function body compares the other way round: it has ones where the operator has zeros.
    shares = [1 - p if is_function else p for p in inputs["x"]]
    if any(y not in (0, 1) for y in outputs["y"]):
        return "an output is neither 0 nor 1"
    if any(y != p for y, p in zip(outputs["y"], shares) if p in (0, 1)):
        return "what is certain did not happen"
    return "%d of %d are ones" % (sum(outputs["y"]), len(shares)) if far_off(sum(outputs["y"]), shares) else None


def dropout(inputs, outputs, _):
    ratio = inputs["r"][0] if "r" in inputs else 0.5
    scaled = [x / (1 - ratio) for x in inputs["x"]]
    mask = outputs.get("z", [y != 0 for y in outputs["y"]])
    if any(not math.isclose(y, x if kept else 0.0, rel_tol=1e-6) for y, x, kept in zip(outputs["y"], scaled, mask)):
        return "an output is not the input scaled where the mask is set, and 0 elsewhere"
    if far_off(sum(mask), [1 - ratio] * len(mask)):
        return "%d of %d are kept with a ratio of %g" % (sum(mask), len(mask), ratio)
    return None


RULES = {"bernoulli": bernoulli, "dropout": dropout}


def check(tool, name, folder):
    """-> what is wrong with the numbers of a case that passed as random, or None."""
    for word, rule in RULES.items():
        if word in name:
            return rule(*run(tool, folder), name.endswith("_expanded"))
    return "its outputs are random, and there is no rule for it"


def judge(tool, cases, results):
    """Makes failures of the random passes that break their rule. -> how many there are."""
    passed = [name for name, (status, text) in results.items() if status == "PASS" and MARK in text]
    for name in passed:
        wrong = check(tool, name, cases[name])
        if wrong:
            results[name] = ("FAIL", wrong)
    return len(passed)
