"""Prints files of SequenceProto, OptionalProto, a sequence of MapProto and two TensorProto, read by tests/wire.py."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3))
import wire                                     # noqa: E402


def show(message):
    """Tensors as their type, dims and values; the rest as it is."""
    if isinstance(message, list):
        return [show(item) for item in message]
    if not isinstance(message, dict):
        return message
    if "raw_data" in message or "string_data" in message:
        kind, raw = message["data_type"], message.get("raw_data", b"")
        values = message.get("string_data") or list(struct.unpack("<%d%s" % (
            len(raw) // {1: 4, 7: 8, 10: 2}[kind], {1: "f", 7: "q", 10: "e"}[kind]), raw))
        return kind, message.get("dims", []), values
    return {key: show(value) for key, value in message.items()}


for name, kind in zip(sys.argv[1:], ("SequenceProto", "OptionalProto", "SequenceProto", "TensorProto", "TensorProto")):
    with open(name, "rb") as file:
        print(os.path.basename(name), show(wire.parse(file.read(), kind)))
