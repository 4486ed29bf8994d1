#!/usr/bin/env python3
"""Prints an event log in JSON Lines as the reference's document does: one line an event, numbers as floats."""
import json
import sys

# Numbers of element types as TensorProto has them.
TYPES = {"float": 1, "int64": 7}

for line in open(sys.argv[1], encoding="utf-8"):
    event = json.loads(line)
    text = "[%s %s] %s" % (event["action"], event["kind"], event["name"])
    if event["dtype"] is not None:
        text += " dtype=%d shape=%s values=%s" % (TYPES[event["dtype"]], event["shape"], [float(v) for v in event["values"]])
    print(text)
