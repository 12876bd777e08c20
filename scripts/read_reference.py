#!/usr/bin/env python3
"""Reads test/Data/models/NAME/reference.safetensors without any package.

    read_reference.py FOLDER TOKENS.txt

writes the reference's tokens, one row to a line with the id that follows the
row at its end (the last label), and prints "BATCH SEQUENCE LOSS".
"""
import json
import pathlib
import struct
import sys


def read(path: pathlib.Path) -> dict:
    """All tensors of a safetensors file as (shape, flat tuple of numbers)."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        code = {"F32": "f", "I32": "i", "I64": "q"}[entry["dtype"]]
        count = (end - begin) // struct.calcsize(code)
        tensors[name] = (entry["shape"], struct.unpack(f"<{count}{code}", body[begin:end]))
    return tensors


def main() -> None:
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tensors = read(folder / "reference.safetensors")
    (batch, sequence), tokens = tensors["tokens"]
    labels = tensors["labels"][1]
    rows = []
    for b in range(batch):
        row = tokens[b * sequence : (b + 1) * sequence]
        rows.append(" ".join(map(str, row + (labels[(b + 1) * sequence - 1],))))
    output.write_text("\n".join(rows) + "\n")
    print(batch, sequence, tensors["loss"][1][0])


if __name__ == "__main__":
    main()
