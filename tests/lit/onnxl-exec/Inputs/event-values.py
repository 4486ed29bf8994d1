#!/usr/bin/env python3
"""Runs a model with --events and once more with --dump all: the events' values must be those of the .npy files.

Usage: event-values.py TMP LEAST MODEL [OPTION]...     LEAST: so many values must have been compared
"""
import ast
import json
import os
import re
import shutil
import struct
import subprocess
import sys

CODES = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B",
         "b1": "?"}
NAMES = {"double": "f8", "float": "f4", "float16": "f2", "int64": "i8", "int32": "i4", "int16": "i2", "int8": "i1",
         "uint64": "u8", "uint32": "u4", "uint16": "u2", "uint8": "u1", "bool": "b1"}


def npy(path):
    """Type, shape and the first eight elements."""
    data = open(path, "rb").read()
    size, = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + size].decode())
    assert not header["fortran_order"]
    kind = header["descr"][1:]
    count = 1
    for dim in header["shape"]:
        count *= dim
    values = struct.unpack_from("<%d%s" % (min(count, 8), CODES[kind]), data, 10 + size)
    return kind, list(header["shape"]), list(values)


def same(shown, stored):
    if isinstance(stored, float):
        # Shortest digits of the type; -0.0 and NaN are told apart by their text.
        return repr(float(shown)) == repr(stored) or (stored == stored and struct.pack("<f", float(shown)) == struct.pack("<f", stored))
    return shown == stored and isinstance(shown, bool) == isinstance(stored, bool)


def main():
    tmp, least, model, options = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    shutil.rmtree(tmp, ignore_errors=True)
    log = tmp + ".json"
    command = ["onnxl-exec", *options, "--dump", "all", "--output-dir", tmp, "--events=" + log, "--format=json", model]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    compared = 0
    for line in open(log, encoding="utf-8"):
        event = json.loads(line)
        if event["action"] != "add" or event["kind"] != "intermediate":
            continue
        # Names that are alike once they are safe have numbers behind them; no model here has such.
        path = os.path.join(tmp, re.sub("[^A-Za-z0-9_.-]", "_", event["name"])[:200] + ".npy")
        kind, shape, values = npy(path)
        assert (NAMES[event["dtype"]], event["shape"]) == (kind, shape), (event, kind, shape)
        assert len(values) == len(event["values"]), event
        assert all(map(same, event["values"], values)), (event, values)
        compared += 1
    assert compared >= least, compared


main()
