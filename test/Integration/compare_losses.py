#!/usr/bin/env python3
"""Compiles a model folder, runs it on virtual GPUs, compares with its reference.

The reference (reference.safetensors, by transformers on PyTorch) holds tokens,
labels and the negative log-likelihood of each token. Positions whose label is
-100 there are left out. Any NaN is a difference.

    compare_losses.py MODEL --mesh dp=2,tp=2 --dtype f32 --tolerance 1e-4
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
import read_reference  # noqa: E402


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

    reference = read_reference.read(pathlib.Path(args.model) / "reference.safetensors")
    for name in ("tokens", "labels", "nll"):
        (rows, *rest), values = reference[name]
        reference[name] = ((rows * args.repeat, *rest), values * args.repeat)
    ranks = math.prod(int(axis.split("=")[1]) for axis in args.mesh.split(","))
    with tempfile.TemporaryDirectory() as folder:
        batch, sequence = read_reference.write_tokens(reference, pathlib.Path(folder) / "tokens.txt")
        flags = args.compile_flag + (["--instrument"] if args.check else [])
        subprocess.run(
            ["tessera", "compile", args.model, "--mesh", args.mesh, "--seq", str(sequence), "--batch", str(batch),
             "--dtype", args.dtype, "--chip", "sm_80", "-o", f"{folder}/model", *flags], check=True)
        run = ["tessera", "run", "-n", str(ranks), f"{folder}/model", "--device=virtual", "--seed", "7",
               "--tokens", f"{folder}/tokens.txt", "--output", f"{folder}/out.safetensors", "--report-collectives"]
        report = subprocess.run(run + (["--check"] if args.check else []), check=True, stdout=subprocess.PIPE, text=True)
        print(report.stdout, end="")
        got = read_reference.read(pathlib.Path(folder) / "out.safetensors")
    pairs = read_reference.counted_losses(reference, got)
    assert pairs
    if args.mean is not None:
        mean = sum(a for a, _ in pairs) / len(pairs)
        want = sum(b for _, b in pairs) / len(pairs)
        difference, limit = abs(mean - want) / abs(want), args.mean
        print(f"mean {mean:.6f}, reference {want:.6f}, relative difference {difference:.2e}")
    else:
        difference, limit = read_reference.largest_difference(pairs), args.tolerance
        print(f"{len(pairs)} tokens, largest difference {difference:.2e}")
    if not difference <= limit:
        sys.exit(f"error: {difference:.3e} is more than {limit:.3e}")


if __name__ == "__main__":
    main()
