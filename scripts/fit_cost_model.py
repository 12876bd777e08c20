#!/usr/bin/env python3
"""Fits the constants of the cost model to published measurements.

The model itself is the C++ one: this script only asks `tessera validate` for
predictions under many sets of constants and improves them by damped
Gauss-Newton steps on log(predicted / measured), every source weighing the
same, with a robust loss (so that a few odd rows do not bend the fit) and a
weak pull of every constant towards its prior. Needs numpy.

  fit_cost_model.py --tessera build/bin/tessera --points POINTS.csv \
      --out data/cost_model_constants.json            fit to all sources
  fit_cost_model.py ... --half a --out half_a.json    fit to half of them
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

# Prior, kind: "share" lies in (0, limit), "scale" is positive. The last number
# is how far (in units of the transformed value) a constant may move for the
# price of one standard residual.
CHIP = {
    "matmul16": (0.75, "share", 0.6),
    "matmul8": (0.60, "share", 0.6),
    "matmul4": (0.45, "share", 0.6),
    "attention": (0.50, "share", 0.5),
    "attention_backward": (0.80, "share", 0.4),
    "grouped_matmul": (0.75, "share", 0.6),
    "memory": (0.80, "share", 0.4),
    "kernel_gap": (2.0e-6, "scale", 0.4),
    "nvlink": (0.75, "share", 0.4),
    "nic": (0.75, "share", 0.4),
    "all_to_all": (0.65, "share", 0.5),
    "contention": (0.20, "share", 0.5),
}
STACK = {
    "host_per_launch": (8e-6, "scale", 0.8),
    "vector_traffic": (1.3, "scale", 0.4),
    "tp_overlap": (0.35, "share", 0.8),
    "dp_overlap": (0.60, "share", 0.8),
    "ep_overlap": (0.20, "share", 0.8),
    "gradient_traffic": (2.0, "scale", 0.7),
    "pp_overlap": (0.50, "share", 0.8),
    "jitter": (0.004, "scale", 0.5),
}
# Eager frameworks of 2021 start kernels far more slowly, and dropless experts
# wait for counts on the host.
SLOW_HOST = {"megatron-deepspeed": 50e-6, "bigscience-2022": 50e-6,
             "megatron-2021": 30e-6, "megatron-bridge": 35e-6,
             "megatron-bridge-26.06": 35e-6}
# A framework without a measured run takes what its relative was fitted to.
RELATIVE = {"bigscience-2022": "megatron-deepspeed",
            "megatron-deepspeed": "bigscience-2022",
            "megatron-2021": "megatron-2022", "megatron-2022": "megatron-2021",
            "megatron-core": "nemo", "nemo": "megatron-core",
            "megatron-bridge": "nemo",
            "megatron-bridge-26.06": "megatron-bridge",
            "torchtitan": "llm-foundry", "llm-foundry": "torchtitan",
            "jax": "torchtitan", "deepspeed": "llm-foundry"}
LIMIT = 0.97

# The two halves, chosen before any fit so that each chip and each framework
# that occurs in more than one source is in both.
HALF_A = [
    "vTrain@f8dda84:data/ground_truth_multi",
    "arXiv:2104.04473",
    "mosaicml/llm-foundry",
    "dgxc-benchmarking@v25.04.02:nemo_megatron",
    "dgxc-benchmarking@v24.11.1:llama3.1",
    "Megatron-Bridge@067f987:docs/performance-summary-archive",
    "SimuMax",
    "paxml",
]


def forward(value, kind):
    if kind == "share":
        v = min(max(value / LIMIT, 1e-6), 1 - 1e-6)
        return np.log(v / (1 - v))
    return np.log(max(value, 1e-12))


def backward(x, kind):
    if kind == "share":
        return LIMIT / (1 + np.exp(-x))
    return float(np.exp(x))


def thinned(path, limit):
    """A copy of the file with at most `limit` evenly spaced runs per source:
    a source weighs the same with 150 runs as with 1,260."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    runs = {}
    for row in rows:
        if "cfg=complete" not in row["notes"]:
            continue
        match = re.search(r"run=([^;]+)", row["notes"])
        runs.setdefault(row["source"], {}).setdefault(
            match.group(1) if match else row["id"], []).append(row)
    handle, out = tempfile.mkstemp(suffix=".csv")
    with os.fdopen(handle, "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, rows[0].keys())
        writer.writeheader()
        for source in runs.values():
            groups = list(source.values())
            step = max(1.0, len(groups) / limit)
            for i in range(min(limit, len(groups))):
                writer.writerows(groups[int(i * step)])
    return out


class Model:
    """Predictions of the C++ model for vectors of transformed constants."""

    def __init__(self, args):
        self.command = args.tessera.split()
        self.points = thinned(args.points, args.per_source)
        report = json.loads(self.call(["--json"]))
        self.runs = [
            r for r in report["runs"] if "measured" in r and r["complete"]
        ]
        self.index = [r["run"] for r in self.runs]
        chips = sorted({r["chip"] for r in self.runs})
        self.chips = {}  # chip -> record that holds its constants
        for chip in chips:
            self.chips[chip] = next(
                (a for prefix, a in (("a100", "ampere"), ("a800", "ampere"),
                                     ("h100", "hopper"), ("h200", "hopper"),
                                     ("h800", "hopper"))
                 if chip.startswith(prefix)), chip)
        self.records = sorted(set(self.chips.values()))
        self.stacks = sorted({r["stack"] for r in self.runs})
        self.names = [("chips", c, f) for c in self.records for f in CHIP]
        self.names += [("stacks", s, f) for s in self.stacks for f in STACK]
        spec = [CHIP[f] if t == "chips" else STACK[f] for t, _, f in self.names]
        self.kinds = [k for _, k, _ in spec]
        self.prior = np.array([
            forward(SLOW_HOST.get(name, v) if field == "host_per_launch" else v,
                    k)
            for (_, name, field), (v, k, _) in zip(self.names, spec)])
        self.width = np.array([w for _, _, w in spec])
        self.measured = np.array([r["measured"] for r in self.runs])

    def call(self, arguments):
        result = subprocess.run(
            self.command + ["validate", self.points] + arguments,
            capture_output=True, text=True, check=False)
        if result.returncode:
            sys.exit(result.stderr)
        return result.stdout

    def inherit(self, x, chosen):
        """Relatives' constants for frameworks without a chosen run."""
        seen = {r["stack"] for r, c in zip(self.runs, chosen) if c}
        x = x.copy()
        where = {n: i for i, n in enumerate(self.names)}
        for table, name, field in self.names:
            relative = RELATIVE.get(name)
            if table == "stacks" and name not in seen and relative in seen:
                x[where[table, name, field]] = x[where[table, relative, field]]
        return x

    def constants(self, x):
        out = {"chips": {}, "stacks": {}}
        for (table, name, field), value, kind in zip(self.names, x, self.kinds):
            out[table].setdefault(name, {})[field] = backward(value, kind)
        # Architectures without a measurement of their own chip.
        blackwell = [out["chips"][c] for c in self.records
                     if c[0] in "bg" and c != "ampere"]
        if blackwell:
            out["chips"]["blackwell"] = {
                f: float(np.exp(np.mean([np.log(b[f]) for b in blackwell])))
                for f in CHIP}
        # And a framework that nobody has measured.
        stacks = list(out["stacks"].values())
        out["stacks"]["default"] = {
            f: float(np.exp(np.mean([np.log(s[f]) for s in stacks])))
            for f in STACK}
        return out

    def residuals(self, xs):
        """log(predicted / measured) for each vector."""
        sets = [self.constants(x) for x in xs]
        with tempfile.NamedTemporaryFile("w", suffix=".json",
                                         delete=False) as f:
            json.dump(sets + [sets[0]] * (2 - min(2, len(sets))), f)
        try:
            answer = json.loads(self.call(["--constants", f.name]))
        finally:
            os.unlink(f.name)
        where = {run: i for i, run in enumerate(answer["runs"])}
        pick = [where[run] for run in self.index]
        predicted = np.array(answer["predicted"])[:len(xs), pick]
        return np.log(predicted / self.measured)


def fit(model, chosen, iterations, scale=0.05, ridge=1.0, start=None):
    """Gauss-Newton with iteratively reweighted (Cauchy-like) residuals."""
    if start is None:
        # Wide loss first, so that no source is given up as an outlier because
        # of where the fit began.
        for wide in (0.30, 0.12):
            start, _ = fit(model, chosen, (iterations + 1) // 2, wide, ridge,
                           model.prior if start is None else start)
    # A source weighs one, divided evenly among the frameworks (or releases)
    # that it reports, so that a page's newest release is not drowned.
    cells = [(r["source"], r["stack"]) for r in model.runs]
    counts = {}
    for cell, c in zip(cells, chosen):
        if c:
            counts[cell] = counts.get(cell, 0) + 1
    shares = {}
    for source, _ in counts:
        shares[source] = shares.get(source, 0) + 1
    weight = np.array([1.0 / (shares[cell[0]] * counts[cell]) if c else 0.0
                       for cell, c in zip(cells, chosen)])
    x = np.array(start)
    damping = 1e-2

    def robust(r):
        return float(np.sum(weight * np.log1p((r / scale) ** 2)))

    def total(x, r):
        pull = (x - model.prior) / model.width
        return robust(r) + ridge * 0.05 * float(pull @ pull)

    r = model.residuals([x])[0]
    cost = total(x, r)
    for iteration in range(iterations):
        step = 1e-2
        shifted = model.residuals([x + step * np.eye(len(x))[i]
                                   for i in range(len(x))])
        jacobian = ((shifted - r) / step).T
        w = weight / (scale ** 2 + r ** 2)
        pull = (x - model.prior) / model.width
        hessian = (jacobian * w[:, None]).T @ jacobian
        hessian += ridge * 0.05 * np.diag(1 / model.width ** 2)
        gradient = jacobian.T @ (w * r) + ridge * 0.05 * pull / model.width
        candidates = []
        for d in (damping * 0.1, damping, damping * 10, damping * 100):
            delta = -np.linalg.solve(
                hessian + d * np.diag(np.diag(hessian)), gradient)
            candidates.append((d, x + np.clip(delta, -1.0, 1.0)))
        answers = model.residuals([c for _, c in candidates])
        costs = [total(c, a) for (_, c), a in zip(candidates, answers)]
        best = int(np.argmin(costs))
        improved = cost - costs[best]
        if improved <= 0:
            damping *= 100
            if damping > 1e6:
                break
            continue
        damping = max(candidates[best][0], 1e-5)
        x, r, cost = candidates[best][1], answers[best], costs[best]
        print(f"iteration {iteration}: cost {cost:.4f}", file=sys.stderr)
        if improved < 3e-3:
            break
    return x, r


def quantile(values, weights, q):
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return values[order][np.searchsorted(total, q * total[-1])]


def report(title, model, r, chosen):
    sources = np.array([run["source"] for run in model.runs])
    error = np.abs(np.exp(r) - 1)
    mask = np.array(chosen)
    print(title)
    weights = np.zeros(len(error))
    for s in sorted(set(sources[mask])):
        rows = mask & (sources == s)
        weights[rows] = 1.0 / rows.sum()
        signed = np.median(np.exp(r[rows]) - 1)
        print(f"  {100 * np.median(error[rows]):6.1f} "
              f"{100 * np.quantile(error[rows], 0.9):6.1f} "
              f"{100 * signed:+6.1f} {rows.sum():5d}  {s}")
    print(f"  median {100 * quantile(error[mask], weights[mask], 0.5):.1f} %, "
          f"90th percentile {100 * quantile(error[mask], weights[mask], 0.9):.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", default="build/bin/tessera")
    parser.add_argument("--points", default="test/Data/published/points.csv")
    parser.add_argument("--out")
    parser.add_argument("--half", choices=["a", "b"],
                        help="fit to one half of the sources, report both")
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--ridge", type=float, default=1.0)
    parser.add_argument("--per-source", type=int, default=120)
    args = parser.parse_args()
    model = Model(args)
    in_a = [any(h in r["source"] for h in HALF_A) for r in model.runs]
    chosen = [True] * len(in_a)
    if args.half:
        chosen = [a == (args.half == "a") for a in in_a]
    x, r = fit(model, chosen, args.iterations, ridge=args.ridge)
    x = model.inherit(x, chosen)
    r = model.residuals([x])[0]
    report("fitted sources:", model, r, chosen)
    if args.half:
        report("other sources:", model, r, [not c for c in chosen])
    if args.out:
        def rounded(v):
            return {k: rounded(w) for k, w in v.items()} if isinstance(
                v, dict) else float(f"{v:.3g}")
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(rounded(model.constants(x)), f, indent=1, sort_keys=True)
            f.write("\n")


if __name__ == "__main__":
    main()
