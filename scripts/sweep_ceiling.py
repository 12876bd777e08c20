#!/usr/bin/env python3
"""What rank correlation the published sweeps of layouts allow at all.

For each sweep of POINTS.csv (one model, batch and machine, several layouts)
three predictors that know more than a model can:

  repeats     every layout's own mean over its repeats
  intercepts  the model's prediction times a free factor for each pair of tp and
              pp, fitted to this very sweep by least squares of logarithms
  noise N %   the measurements themselves, off by a normal N % at random

Printed: Spearman's correlation, the mean over each source's sweeps. Needs numpy.
"""
import argparse
import collections
import csv
import json
import subprocess

import numpy as np

NOISE = (3, 5, 10)
SAME = ("source", "model", "layers", "hidden", "heads", "seq", "global_batch",
        "precision", "gpu", "n_gpus")


def ranks(values):
    """Ranks from 0, equal values sharing the mean of theirs."""
    values = np.asarray(values)
    less = (values[:, None] > values[None, :]).sum(1)
    return less + ((values[:, None] == values[None, :]).sum(1) - 1) / 2


def spearman(a, b):
    return np.corrcoef(ranks(a), ranks(b))[0, 1]


def by_repeats(runs, measured):
    layouts = [r["layout"] for r in runs]
    mean = {l: np.mean([m for m, k in zip(measured, layouts) if k == l])
            for l in set(layouts)}
    return [mean[l] for l in layouts]


def by_intercepts(rows, measured, predicted):
    """With one column for each pair, and one for the model's own spread."""
    pairs = [(row["tp"], row["pp"]) for row in rows]
    x = np.array([[float(p == q) for q in sorted(set(pairs))] for p in pairs])
    x = np.column_stack([x, np.log(predicted)])
    return x @ np.linalg.lstsq(x, np.log(measured), rcond=None)[0]


def sweeps(runs, rows):
    """Runs of one question with five measurements and three layouts or more,
    as `tessera validate` counts them."""
    groups = collections.defaultdict(list)
    for run in runs:
        if run.get("complete") and "measured" in run:
            row = rows[run["run"]]
            groups[tuple(row[key] for key in SAME)].append(run)
    return [g for g in groups.values()
            if len(g) >= 5 and len({r["layout"] for r in g}) >= 3]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", nargs="?",
                        default="test/Data/published/points.csv")
    parser.add_argument("--tessera", default="build/bin/tessera")
    args = parser.parse_args()
    rows = {}
    with open(args.points, newline="") as file:
        for row in csv.DictReader(file):
            run = row["notes"].partition("run=")[2].partition(";")[0].strip()
            rows[run or row["id"]] = row
    answer = json.loads(subprocess.run(
        [args.tessera, "validate", args.points, "--json"], check=True,
        stdout=subprocess.PIPE).stdout)
    random = np.random.default_rng(1)
    table = collections.defaultdict(list)
    for runs in sweeps(answer["runs"], rows):
        measured = np.array([r["measured"] for r in runs])
        predicted = np.array([r["predicted"] for r in runs])
        own = [rows[r["run"]] for r in runs]
        line = [spearman(measured, predicted),
                spearman(measured, by_repeats(runs, measured)),
                spearman(measured, by_intercepts(own, measured, predicted))]
        for percent in NOISE:
            off = random.normal(0, percent / 100, (200, len(runs)))
            line.append(np.mean([spearman(measured, measured * np.exp(e))
                                 for e in off]))
        table[runs[0]["source"]].append(line)
    names = ["model", "repeats", "intercepts"] + [f"noise {n} %" for n in NOISE]
    print(f"{'source':56} {'sweeps':>6} " + " ".join(f"{n:>10}" for n in names))
    means = {s: np.mean(lines, 0) for s, lines in sorted(table.items())}
    for source, mean in means.items():
        print(f"{source[-56:]:56} {len(table[source]):6} " +
              " ".join(f"{v:10.3f}" for v in mean))
    print(f"{'all, weighed by source':56} {sum(map(len, table.values())):6} " +
          " ".join(f"{v:10.3f}" for v in np.mean(list(means.values()), 0)))


if __name__ == "__main__":
    main()
