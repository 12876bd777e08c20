#!/usr/bin/env python3
"""Compiles a model folder, runs it on virtual GPUs, compares with its reference.

The reference (reference.safetensors, by transformers on PyTorch) holds tokens,
labels and the negative log-likelihood of each token. Positions whose label is
-100 there are left out. Any NaN is a difference.

    compare_losses.py MODEL --mesh dp=2,tp=2 --dtype f32 --tolerance 1e-4
"""
import argparse
import array
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        begin, end = info["data_offsets"]
        kind = {"F32": "f", "I32": "i"}[info["dtype"]]
        tensors[name] = (info["shape"], array.array(kind, data[8 + length + begin : 8 + length + end]))
    return tensors


def write_tokens(path, reference):
    """Rows of sequence + 1 ids; the id after the last one is its label."""
    (batch, sequence), tokens = reference["tokens"]
    labels = reference["labels"][1]
    with open(path, "w", encoding="ascii") as file:
        for row in range(batch):
            ids = list(tokens[row * sequence : (row + 1) * sequence])
            ids.append(max(labels[(row + 1) * sequence - 1], 0))
            file.write(" ".join(map(str, ids)) + "\n")
    return batch, sequence


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--mesh", default="dp=1,tp=1")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest difference of one token")
    parser.add_argument("--mean", type=float, help="largest relative difference of the mean instead")
    parser.add_argument("--repeat", type=int, default=1, help="rows N times over (a larger batch)")
    parser.add_argument("--check", action="store_true", help="run in the checking mode")
    parser.add_argument("--compile-flag", action="append", default=[])
    args = parser.parse_args()

    reference = read_safetensors(f"{args.model}/reference.safetensors")
    for name in ("tokens", "labels", "nll"):
        (rows, *rest), values = reference[name]
        reference[name] = ((rows * args.repeat, *rest), values * args.repeat)
    ranks = math.prod(int(axis.split("=")[1]) for axis in args.mesh.split(","))
    with tempfile.TemporaryDirectory() as folder:
        batch, sequence = write_tokens(f"{folder}/tokens.txt", reference)
        flags = args.compile_flag + (["--instrument"] if args.check else [])
        subprocess.run(
            ["tessera", "compile", args.model, "--mesh", args.mesh, "--seq", str(sequence), "--batch", str(batch),
             "--dtype", args.dtype, "--chip", "sm_80", "-o", f"{folder}/model", *flags], check=True)
        run = ["tessera", "run", "-n", str(ranks), f"{folder}/model", "--device=virtual", "--seed", "7",
               "--tokens", f"{folder}/tokens.txt", "--output", f"{folder}/out.safetensors", "--report-collectives"]
        report = subprocess.run(run + (["--check"] if args.check else []), check=True, stdout=subprocess.PIPE, text=True)
        print(report.stdout, end="")
        got = read_safetensors(f"{folder}/out.safetensors")["nll"][1]
    pairs = [(a, b) for a, b, label in zip(got, reference["nll"][1], reference["labels"][1]) if label >= 0]
    assert len(got) == batch * sequence and pairs
    if args.mean is not None:
        mean = sum(a for a, _ in pairs) / len(pairs)
        want = sum(b for _, b in pairs) / len(pairs)
        difference, limit = abs(mean - want) / abs(want), args.mean
        print(f"mean {mean:.6f}, reference {want:.6f}, relative difference {difference:.2e}")
    else:
        difference, limit = max(abs(a - b) if a == a and b == b else math.inf for a, b in pairs), args.tolerance
        print(f"{len(pairs)} tokens, largest difference {difference:.2e}")
    if not difference <= limit:
        sys.exit(f"error: {difference:.3e} is more than {limit:.3e}")


if __name__ == "__main__":
    main()
