#!/usr/bin/env python3
"""Times the five layout searches that the planner is measured by.

    python test/Benchmark/search.py [--tessera build/bin/tessera] [--runs 3]
        [--strict] [--any-core]

Runs `tessera plan MODEL --cluster C --json`, the whole process with its search
on a slower network, on one core, and prints a Markdown table: the size of the
space, what was looked at, CPU and wall time of the fastest run, the largest
resident set. Layouts/s is the space over that CPU time. With --strict it fails
where a process takes more than a second of CPU or 500 MB or leaves a gap (wall
time means something on a quiet machine only).

Calculon's exhaustive search (github.com/calculon-ai/calculon) would be the tool
to compare with; it is not part of this repository. Its public search of
GPT-3 175B on 1,024 A100 did not finish in 50 minutes on two cores.
"""
import argparse
import json
import os
import subprocess
import sys
import time

SEARCHES = [
    ("llama-65b", "a100-80g-sxm:256x8"),
    ("gpt3-175b", "a100-80g-sxm:128x8"),
    ("mixtral-8x22b", "h100-sxm:128x8"),
    ("llama3-405b", "h100-sxm:2048x8"),
    ("deepseek-v3", "h800:256x8"),
]


def run(command, one_core):
    """Output, CPU seconds, wall seconds and MB of one run of `command`."""
    core = min(os.sched_getaffinity(0))

    def pin():
        if one_core:
            os.sched_setaffinity(0, {core})

    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=pin)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return output, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1e3


def count(n):
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if n >= limit:
            return f"{n / limit:.3g}{unit}"
    return f"{n:.0f}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--any-core", action="store_true")
    arguments = parser.parse_args()
    print("| model | cluster | layouts | meshes | expanded | timelines | "
          "CPU s | wall s | layouts/s | MB | best |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    failures = []
    for model, cluster in SEARCHES:
        command = [arguments.tessera, "plan", model, "--cluster", cluster,
                   "--json"]
        runs = [run(command, not arguments.any_core)
                for _ in range(arguments.runs)]
        plan = json.loads(runs[0][0])
        cpu, wall = min(r[1] for r in runs), min(r[2] for r in runs)
        megabytes = max(r[3] for r in runs)
        c, best = plan["certificate"], plan["ranked"][0]
        print(f"| {model} | {cluster} | {count(c['space'])} | {c['meshes']:,} "
              f"| {c['expanded']:,} | {c['evaluated']:,} | {cpu:.2f} "
              f"| {wall:.2f} | {count(c['space'] / cpu)} "
              f"| {megabytes:.0f} | `{best['layout_text']}`, "
              f"{best['step_seconds']:.3g} s |", flush=True)
        if c["gap"] != 0 or cpu > 1 or megabytes > 500:
            failures.append(f"{model}: gap {c['gap']}, {cpu:.2f} s of CPU, "
                            f"{megabytes:.0f} MB")
    if failures and arguments.strict:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
