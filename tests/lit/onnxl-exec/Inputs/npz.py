"""Writes archives of .npy files into a folder: as numpy makes them, and damaged ones."""
import os
import struct
import sys
import warnings
import zipfile

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
warnings.simplefilter("ignore")                     # of a name given twice


def npy(descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


X = npy("<f4", (2, 2), struct.pack("<4f", 1, 2, 3, 4))
LARGE = npy("<f4", (2, 500), bytes(4000))


def archive(name, method, entries, zip64=False):
    path = os.path.join(folder, name)
    with zipfile.ZipFile(path, "w", method) as file:
        for key, data in entries:
            with file.open(zipfile.ZipInfo(key), "w", force_zip64=zip64) if method == zipfile.ZIP_STORED else \
                    file.open(key, "w", force_zip64=zip64) as entry:
                entry.write(data)
    return path


def patched(name, method, entries, old, new):
    """An archive whose bytes old, all of them, are others."""
    path = archive(name, method, entries)
    with open(path, "rb") as file:
        data = file.read()
    assert old in data
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
archive("stored.npz", STORED, [("other.npy", LARGE), ("x.npy", X)])
archive("deflated.npz", DEFLATED, [("x.npy", X), ("large.npy", LARGE)])
archive("zip64.npz", DEFLATED, [("x.npy", X), ("../../up.npy", X)], zip64=True)
archive("twice.npz", STORED, [("x.npy", X), ("x.npy", LARGE)])
archive("bzip2.npz", zipfile.ZIP_BZIP2, [("x.npy", X)])
archive("empty.npz", STORED, [])
archive("text.npz", STORED, [("x.npy", b"no array")])
patched("checksum.npz", STORED, [("x.npy", X)], struct.pack("<4f", 1, 2, 3, 4), struct.pack("<4f", 1, 2, 3, 5))
size = struct.pack("<I", len(X))
patched("long.npz", STORED, [("x.npy", X)], size, struct.pack("<I", len(X) + 99))
patched("bomb.npz", DEFLATED, [("large.npy", LARGE)], struct.pack("<I", len(LARGE)), struct.pack("<I", 1 << 30))
with open(os.path.join(folder, "deflated.npz"), "rb") as file:
    whole = file.read()
with open(os.path.join(folder, "cut.npz"), "wb") as file:
    file.write(whole[:-30])
