#!/usr/bin/env python3
"""Times the compilation of a large model to cubins, and of twice its layers.

    python3 scripts/bench_compile.py [--tessera build/bin/tessera] [--runs 3] [--markdown FILE]

Llama-3-70B's shapes (80 layers), tp=8, sequence 8192, cubins for sm_80 and sm_90;
then the same with 160 layers. Each is run --runs times, in turns; the least times
and the largest memory of any process (the compiler starts ptxas) count.
Exit code 1 if a limit is exceeded: 20 s, 2 GB, or if the two depths do not give
the same cubins; with --strict, for quiet machines, also if they differ by more than
5 % in processor time or memory.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# config.json of meta-llama/Meta-Llama-3-70B, the fields that the importer reads.
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "attention_bias": False, "hidden_act": "silu", "hidden_size": 8192,
    "initializer_range": 0.02, "intermediate_size": 28672, "max_position_embeddings": 8192, "model_type": "llama",
    "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8, "rms_norm_eps": 1e-05,
    "rope_scaling": None, "rope_theta": 500000.0, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}


def measure(tessera, folder, layers):
    """(seconds, processor seconds, megabytes) of one compilation."""
    config = folder / f"config-{layers}" / "config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({**CONFIG, "num_hidden_layers": layers}))
    begin = time.perf_counter()
    process = subprocess.Popen(
        [tessera, "compile", str(config), "--mesh", "tp=8", "--seq", "8192", "--batch", "1", "--dtype", "bf16",
         "--chip", "sm_80,sm_90", "--emit=cubin", "-o", str(folder / f"{layers}.cubin")])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("error: the compiler failed")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--strict", action="store_true", help="hold the two depths to 5 percent")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the result there as a table")
    args = parser.parse_args()
    lines = ["| model | layers | seconds | processor seconds | memory, MB |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        # In turns, so that other work on the machine meets both.
        samples = [{n: measure(args.tessera, pathlib.Path(name), n) for n in (80, 160)} for _ in range(args.runs)]
        same = all((pathlib.Path(name) / f"80.{chip}.cubin").read_bytes()
                   == (pathlib.Path(name) / f"160.{chip}.cubin").read_bytes() for chip in ("sm_80", "sm_90"))
    results = {
        n: (min(s[n][0] for s in samples), min(s[n][1] for s in samples), max(s[n][2] for s in samples))
        for n in (80, 160)
    }
    for layers, (seconds, processor, memory) in results.items():
        lines.append(f"| Llama-3-70B shapes, tp=8, sequence 8192, bf16 | {layers} | {seconds:.2f} | {processor:.2f} | {memory:.0f} |")
    print("\n".join(lines))
    if args.markdown:
        args.markdown.write_text(
            "# Compile time\n\nWritten by `scripts/bench_compile.py` on a machine with "
            f"{os.cpu_count()} cores: from config.json to cubins for sm_80 and sm_90, `ptxas` included; the least times and "
            f"the largest memory of {args.runs} runs. A layer is compiled once, however many there are.\n\n"
            + "\n".join(lines) + "\n")
    seconds, processor, memory = zip(*results.values())
    problems = []
    if seconds[0] > 20:
        problems.append(f"{seconds[0]:.1f} s is more than 20 s")
    if memory[0] > 2048:
        problems.append(f"{memory[0]:.0f} MB is more than 2 GB")
    if not same:
        problems.append("the kernels of 80 and of 160 layers differ")
    for name, (one, two) in (("processor time", processor), ("memory", memory)):
        if args.strict and two > 1.05 * one:
            problems.append(f"doubling the layers changes {name} by {100 * (two - one) / one:.1f} %")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
