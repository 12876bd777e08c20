#!/usr/bin/env python3
"""Damages an executable in several ways: damage.py EXE FOLDER."""
import pathlib
import sys

source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
data = source.read_bytes()
SEAL = 32  # magic, size, checksum
middle = len(data) // 2
flipped = bytearray(data)
flipped[middle] ^= 1
variants = {
    **{f"cut-{n}": data[:n] for n in (0, 20, 64, 5000)},
    "cut-half": data[:middle],
    "cut-most": data[:-1000],
    "bit": bytes(flipped),
    "missing": data[:middle] + data[middle + 16 :],
    "more": data[:middle] + bytes(16) + data[middle:],
    "unsealed": data[:-SEAL],
}
for name, bytes_ in variants.items():
    path = folder / name
    path.write_bytes(bytes_)
    path.chmod(0o755)
