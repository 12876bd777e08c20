#!/usr/bin/env python3
"""Reads test/Data/models/NAME/reference.safetensors without any package.

    read_reference.py FOLDER TOKENS.txt

writes the reference's tokens, one row to a line with an id behind each row (the
label of its last token; any id where that does not count), and prints
"BATCH SEQUENCE LOSS".

    read_reference.py FOLDER --compare OUT.safetensors

takes what a run wrote with --output and prints "LOSS REFERENCE DIFFERENCE": the
mean over the tokens that the reference counts, the reference's own, and the
largest difference of one token. A NaN anywhere is an infinite difference.
test/Integration/compare_losses.py uses the same functions.
"""
import json
import math
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


def write_tokens(tensors: dict, output: pathlib.Path) -> tuple:
    """Rows of sequence + 1 ids; the id after the last one is its label. Returns (batch, sequence)."""
    (batch, sequence), tokens = tensors["tokens"]
    labels = tensors["labels"][1]
    rows = []
    for b in range(batch):
        row = tokens[b * sequence : (b + 1) * sequence]
        last = max(labels[(b + 1) * sequence - 1], 0)
        rows.append(" ".join(map(str, row + (last,))))
    output.write_text("\n".join(rows) + "\n")
    return batch, sequence


def counted_losses(reference: dict, got: dict) -> list:
    """(loss, reference's) of every token that the reference counts."""
    shape, values = got["nll"]
    expected_shape, expected = reference["nll"]
    if list(shape) != list(expected_shape):
        sys.exit(f"error: expected losses of shape {expected_shape}, got {shape}")
    return [(a, b) for a, b, label in zip(values, expected, reference["labels"][1]) if label >= 0]


def largest_difference(pairs: list) -> float:
    """A NaN on either side is an infinite difference."""
    return max(abs(a - b) if a == a and b == b else math.inf for a, b in pairs)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    tensors = read(folder / "reference.safetensors")
    if sys.argv[2] == "--compare":
        pairs = counted_losses(tensors, read(pathlib.Path(sys.argv[3])))
        print(sum(a for a, _ in pairs) / len(pairs), tensors["loss"][1][0], largest_difference(pairs))
    else:
        print(*write_tokens(tensors, pathlib.Path(sys.argv[2])), tensors["loss"][1][0])


if __name__ == "__main__":
    main()
