#!/usr/bin/env python3
"""Fits the constants of the cost model to published measurements.

The model itself is the C++ one: this script only asks `tessera validate` for
predictions under many sets of constants and improves them by damped
Gauss-Newton steps on log(predicted / measured). Needs numpy.

Every constant is a sum of deviations down a tree, each with a prior around
zero: what all chips share, what an architecture adds, what one chip adds; what
all frameworks share, what a family of frameworks adds, what one adds. So a chip or a framework with few runs stays near its relatives, and one
without a run takes their value. How much deviations cost was chosen by leaving
out one source at a time, not by the fit's own error.

Every source weighs the same. The loss is robust (Cauchy), so that a few odd
rows do not bend the fit.

  fit_cost_model.py --out data/cost_model_constants.json   fit to all sources
  fit_cost_model.py --validate data/cost_model_constants.json
                                 write what the plan says to expect of its step
                                 times into that file, under "validation": by
                                 kind of run the errors on measured runs, and
                                 those of the half's constants that were fitted
                                 without their source. Needed after every fit;
                                 fits nothing itself
  fit_cost_model.py --held-out   report each source predicted without itself,
                                 and each half of the sources by the other
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

# Small matrices: threads would wait for each other, not work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

# Prior, kind, width. "share" lies in (0, 1), "scale" is positive; the width is
# how far (in units of the transformed value) the value that all share may lie
# from the prior for the price of one standard residual.
CHIP = {
    "matmul16": (0.75, "share", 0.4),
    "matmul8": (0.62, "share", 0.4),
    "matmul4": (0.45, "share", 0.4),
    "attention": (0.50, "share", 0.5),
    "attention_backward": (0.80, "share", 0.4),
    "grouped_matmul": (0.75, "share", 0.5),
    "memory": (0.80, "share", 0.4),
    "kernel_gap": (2.0e-6, "scale", 0.4),
    "nvlink": (0.75, "share", 0.4),
    "nic": (0.75, "share", 0.4),
    "all_to_all": (0.65, "share", 0.5),
    "contention": (0.20, "share", 0.5),
}
STACK = {
    # What the model counts as one launch is some calls of an eager framework.
    "host_per_launch": (3.5e-5, "scale", 0.5),
    "vector_traffic": (1.3, "scale", 0.4),
    "tp_overlap": (0.35, "share", 0.8),
    "dp_overlap": (0.60, "share", 0.8),
    "ep_overlap": (0.20, "share", 0.8),
    "pp_overlap": (0.50, "share", 0.8),
    # Narrow: what adapters or a number format cost in few runs would be a wait.
    "collective_wait": (2.0e-5, "scale", 0.5),
    "jitter": (0.004, "scale", 0.5),
}
# Largest product that each architecture's chips were measured to reach, as a
# share of the data sheet (the table of "maximum achievable matmul FLOPS" in
# stas00/ml-engineering, compute/accelerator: A100 SXM 85.9 %, H100 SXM 80.1 %,
# B200 SXM 77.6 %), relative to their mean: where the deviations start.
START = {("ampere", "matmul16"): 0.35, ("hopper", "matmul16"): -0.05,
         ("blackwell", "matmul16"): -0.20, ("volta", "matmul16"): -0.1}

ARCHITECTURES = (("v100", "volta"), ("a100", "ampere"), ("a800", "ampere"),
                 ("h100", "hopper"), ("h200", "hopper"), ("h800", "hopper"),
                 ("l40s", "ada"), ("rtx-4090", "ada"), ("b200", "blackwell"),
                 ("b300", "blackwell"), ("gb200", "blackwell"),
                 ("gb300", "blackwell"))
FAMILIES = {
    "eager": ["megatron-2020", "megatron-2021", "megatron-2022",
              "megatron-deepspeed", "bigscience-2022"],
    "recipes": ["nemo", "megatron-core", "megatron-bridge",
                "megatron-bridge-26.06"],
    # What runs on PyTorch as it comes, or on XLA.
    "sharded": ["llm-foundry", "torchtitan", "deepspeed", "jax", "accelerate",
                "nanotron"],
}
FAMILY_OF = {s: f for f, names in FAMILIES.items() for s in names}
# A later release differs from the one before, not from the family.
PARENT = {"megatron-bridge-26.06": "megatron-bridge",
          "bigscience-2022": "megatron-deepspeed"}
LIMIT = 0.97

# The two halves of points.csv's sources, chosen before any fit so that each chip
# and each framework that occurs in more than one source is in both. Sources that
# came later alternate, in the order of their names.
HALF_A = [
    "vTrain@f8dda84:data/ground_truth_multi",
    "arXiv:2104.04473",
    "mosaicml/llm-foundry",
    "dgxc-benchmarking@v25.04.02:nemo_megatron",
    "dgxc-benchmarking@v24.11.1:llama3.1",
    "Megatron-Bridge@067f987:docs/performance-summary-archive",
    "SimuMax",
    "v24.11.1:paxml",
]
HALF_B = [
    "vTrain@f8dda84:data/ground_truth_single",
    "arXiv:2205.05198",
    "bigscience-workshop/bigscience",
    "dgxc-benchmarking@v24.11.1:nemo_megatron",
    "dgxc-benchmarking@v25.04.02:llama3.1",
    "Megatron-Bridge@067f987:docs/performance-summary.md",
    "NVIDIA/Megatron-LM@d98e8a6",
    "NVIDIA/NeMo@a2aa70a228",
    "torchtitan@b5bcd76",
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


def read_rows(paths):
    rows = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as f:
            rows += list(csv.DictReader(f))
    return rows


def thinned(rows, limit):
    """A file with at most `limit` evenly spaced runs per source: a source
    weighs the same with 150 runs as with 1,260."""
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


class Predictor:
    """Asks the C++ model."""

    def __init__(self, command, rows, limit):
        self.command = command
        self.points = thinned(rows, limit)
        report = json.loads(self.call(["--json"]))
        self.runs = [
            r for r in report["runs"] if "measured" in r and r["complete"]
        ]
        self.index = [r["run"] for r in self.runs]
        self.measured = np.array([r["measured"] for r in self.runs])

    def __del__(self):
        if os.path.exists(getattr(self, "points", "")):
            os.unlink(self.points)

    def call(self, arguments):
        result = subprocess.run(
            self.command + ["validate", self.points] + arguments,
            capture_output=True, text=True, check=False)
        if result.returncode:
            sys.exit(result.stderr)
        return result.stdout

    def residuals(self, sets):
        """log(predicted / measured) for each set of constants."""
        with tempfile.NamedTemporaryFile("w", suffix=".json",
                                         delete=False) as f:
            json.dump(sets + [sets[0]] * (2 - min(2, len(sets))), f)
        try:
            answer = json.loads(self.call(["--constants", f.name]))
        finally:
            os.unlink(f.name)
        where = {run: i for i, run in enumerate(answer["runs"])}
        pick = [where[run] for run in self.index]
        predicted = np.array(answer["predicted"])[:len(sets), pick]
        return np.log(predicted / self.measured)


def architecture_of(chip):
    return next(a for prefix, a in ARCHITECTURES if chip.startswith(prefix))


class Tree:
    """Deviations, what each leaf's constants are the sum of, and priors."""

    # Widths of the deviations, in units of the constant's own width.
    def __init__(self, predictor, family=0.3, leaf=0.6):
        chips = sorted({r["chip"] for r in predictor.runs})
        stacks = sorted({r["stack"] for r in predictor.runs})
        architectures = sorted({a for _, a in ARCHITECTURES})
        self.runs = predictor.runs
        self.leaves = []  # (table, name) -> one record of the file
        self.paths = []  # nodes that a leaf is the sum of
        for a in architectures:
            self.add("chips", a, ["chip", a])
        for c in chips:
            a = architecture_of(c)
            # One record for an architecture with one kind of part.
            if a == "blackwell" or c in ("a100-40g-sxm", "h100-96g-500w"):
                self.add("chips", c, ["chip", a, a + "/" + c])
        self.add("stacks", "default", ["stack"])
        for s in sorted(FAMILY_OF):
            path = ["stack", FAMILY_OF[s]]
            if s in PARENT:
                path.append("stack/" + PARENT[s])
            self.add("stacks", s, path + ["stack/" + s])
        for s in stacks:
            if s not in FAMILY_OF:
                sys.exit(f"framework {s} belongs to no family")
        self.nodes = sorted({n for p in self.paths for n in p})
        self.parameters = []  # (node, field)
        prior, width = [], []
        for n in self.nodes:
            chip = any(n in p and t == "chips"
                       for (t, _), p in zip(self.leaves, self.paths))
            for field, (v, kind, w) in (CHIP if chip else STACK).items():
                self.parameters.append((n, field))
                root = n in ("chip", "stack")
                prior.append(forward(v, kind) if root
                             else START.get((n, field), 0.0))
                scale = 1.0 if root else leaf if "/" in n else family
                width.append(w * scale)
        self.prior, self.width = np.array(prior), np.array(width)
        # Whose deviations are heavy-tailed: single chips.
        self.odd = np.array(["/" in n and not n.startswith("stack/")
                             for n, _ in self.parameters])
        where = {p: i for i, p in enumerate(self.parameters)}
        # Rows: constants of the leaves; columns: deviations.
        self.fields = []
        rows = []
        for (table, name), path in zip(self.leaves, self.paths):
            for field in (CHIP if table == "chips" else STACK):
                self.fields.append((table, name, field))
                row = np.zeros(len(self.parameters))
                for n in path:
                    row[where[n, field]] = 1
                rows.append(row)
        self.matrix = np.array(rows)
        used = {("stacks", r["stack"]) for r in predictor.runs}
        for r in predictor.runs:
            name = r["chip"]
            if ("chips", name) not in self.leaves:
                name = architecture_of(name)
            used.add(("chips", name))
        self.active = [i for i, (t, n, _) in enumerate(self.fields)
                       if (t, n) in used]

    def add(self, table, name, path):
        self.leaves.append((table, name))
        self.paths.append(path)

    def constants(self, x, shift=None, sources=None):
        """The file's content; `shift` adds a step to one leaf's constant,
        `sources` are those fitted to."""
        values = self.matrix @ x
        out = {"chips": {}, "stacks": {}}
        if sources is not None:
            runs = [r for r in self.runs if r["source"] in sources]
            out["measured"] = {
                "chips": sorted({r["chip"] for r in runs}),
                "stacks": sorted({r["stack"] for r in runs}),
                "sources": sorted({r["source"] for r in runs})}
        for i, ((table, name, field), v) in enumerate(zip(self.fields, values)):
            kind = (CHIP if table == "chips" else STACK)[field][1]
            if shift and shift[0] == i:
                v = v + shift[1]
            out[table].setdefault(name, {})[field] = backward(v, kind)
        return out


def source_weights(runs, chosen):
    """A source weighs one, divided evenly among the frameworks (or releases)
    that it reports, so that a page's newest release is not drowned."""
    cells = [(r["source"], r["stack"]) for r in runs]
    counts, shares = {}, {}
    for cell, c in zip(cells, chosen):
        if c:
            counts[cell] = counts.get(cell, 0) + 1
    for source, _ in counts:
        shares[source] = shares.get(source, 0) + 1
    return np.array([1.0 / (shares[cell[0]] * counts[cell]) if c else 0.0
                     for cell, c in zip(cells, chosen)])


class Fit:
    def __init__(self, predictor, tree, ridge, scale):
        self.predictor, self.tree = predictor, tree
        self.ridge, self.scale = ridge, scale

    def jacobian(self, x):
        tree, step = self.tree, 1e-2
        sets = [tree.constants(x)]
        sets += [tree.constants(x, (i, step)) for i in tree.active]
        answers = self.predictor.residuals(sets)
        leaf = ((answers[1:] - answers[0]) / step).T
        return answers[0], leaf @ tree.matrix[tree.active]

    def solve(self, r0, jacobian, x0, weight, scale):
        """Robust ridge problem of the model linear at x0."""
        tree, x = self.tree, x0.copy()
        penalty = self.ridge / tree.width ** 2
        for _ in range(20):
            r = r0 + jacobian @ (x - x0)
            w = weight / (scale ** 2 + r ** 2)
            # One odd chip must not move its relatives: the deviations of chips
            # are heavy-tailed.
            far = ((x - tree.prior) / tree.width) ** 2
            pull = penalty / np.where(tree.odd, 1 + far, 1)
            hessian = (jacobian * w[:, None]).T @ jacobian + np.diag(pull)
            gradient = jacobian.T @ (w * r) + pull * (x - tree.prior)
            delta = np.linalg.solve(hessian, gradient)
            x = x - delta
            if np.max(np.abs(delta)) < 2e-3:
                break
        return x

    def cost(self, x, r, weight, scale):
        far = ((x - self.tree.prior) / self.tree.width) ** 2
        return (float(np.sum(weight * np.log1p((r / scale) ** 2)))
                + self.ridge * float(np.sum(
                    np.where(self.tree.odd, np.log1p(far), far))))

    def run(self, weight, start=None, rounds=5, scales=(0.3, 0.12, None),
            known=None):
        """`known` is what jacobian(start) says, where it was asked before."""
        x = np.array(self.tree.prior if start is None else start)
        for scale in scales:
            scale = scale or self.scale
            r, jacobian = known or self.jacobian(x)
            known = None
            cost = self.cost(x, r, weight, scale)
            for _ in range(rounds):
                target = self.solve(r, jacobian, x, weight, scale)
                steps = (1.0, 0.6, 0.3, 0.1, 0.03)
                answers = self.predictor.residuals(
                    [self.tree.constants(x + s * (target - x))
                     for s in steps])
                costs = [self.cost(x + s * (target - x), a, weight, scale)
                         for s, a in zip(steps, answers)]
                best = int(np.argmin(costs))
                improved = cost - costs[best]
                if improved <= 1e-3:
                    break
                x = x + steps[best] * (target - x)
                cost = costs[best]
                if improved < 2e-2:
                    break
                r, jacobian = self.jacobian(x)
            print(f"scale {scale}: cost {cost:.4f}", file=sys.stderr)
        return x


def quantile(values, weights, q):
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return values[order][np.searchsorted(total, q * total[-1])]


def summary(runs, r, chosen):
    """Median and 90th percentile of the absolute error, weighed by source."""
    error = np.abs(np.exp(r) - 1)
    chosen = np.array(chosen)
    sources = np.array([run["source"] for run in runs])
    weights = np.zeros(len(error))
    for s in set(sources[chosen]):
        rows = chosen & (sources == s)
        weights[rows] = 1.0 / rows.sum()
    return (100 * quantile(error[chosen], weights[chosen], 0.5),
            100 * quantile(error[chosen], weights[chosen], 0.9))


def report(title, runs, r, chosen):
    sources = np.array([run["source"] for run in runs])
    error = np.abs(np.exp(r) - 1)
    mask = np.array(chosen)
    print(title)
    for s in sorted(set(sources[mask])):
        rows = mask & (sources == s)
        signed = np.median(np.exp(r[rows]) - 1)
        print(f"  {100 * np.median(error[rows]):6.1f} "
              f"{100 * np.quantile(error[rows], 0.9):6.1f} "
              f"{100 * signed:+6.1f} {rows.sum():5d}  {s}")
    print("  median %.1f %%, 90th percentile %.1f %%" %
          summary(runs, r, chosen))


def half_a(sources):
    """Which runs belong to half A."""
    listed = {s: any(h in s for h in HALF_A) for s in set(sources)
              if any(h in s for h in HALF_A + HALF_B)}
    later = sorted(set(sources) - set(listed))
    listed.update({s: i % 2 == 0 for i, s in enumerate(later)})
    return np.array([listed[s] for s in sources])


def held_out(fit, full):
    """Each source predicted by constants fitted to the others, from the fit to
    all."""
    runs = fit.predictor.runs
    sources = np.array([r["source"] for r in runs])
    alone = np.zeros(len(runs))
    known = fit.jacobian(full)  # all start there
    for s in sorted(set(sources)):
        x = fit.run(source_weights(runs, sources != s), full, scales=(None,),
                    known=known)
        r = fit.predictor.residuals([fit.tree.constants(x)])[0]
        alone[sources == s] = r[sources == s]
    everything = np.ones(len(runs), bool)
    report("each source by the others:", runs, alone, everything)


def by_halves(fit, folder):
    """Each half predicted by constants fitted to the other, from the priors."""
    runs = fit.predictor.runs
    in_a = half_a(np.array([r["source"] for r in runs]))
    halves = np.zeros(len(runs))
    own = np.zeros(len(runs))
    for name, half in (("a", in_a), ("b", ~in_a)):
        x = fit.run(source_weights(runs, half))
        if folder:
            write(os.path.join(folder, f"half_{name}.json"), fit.tree, x, half)
        r = fit.predictor.residuals([fit.tree.constants(x)])[0]
        halves[~half] = r[~half]
        own[half] = r[half]
    report("half B by half A:", runs, halves, ~in_a)
    report("half A by half B:", runs, halves, in_a)
    for name, half in (("A", in_a), ("B", ~in_a)):
        print("half %s by itself: median %.1f %%, 90th percentile %.1f %%" %
              ((name,) + summary(runs, own, half)))


def write(path, tree, x, chosen):
    sources = {r["source"] for r, c in zip(tree.runs, chosen) if c}
    save(path, rounded(tree.constants(x, sources=sources)))


def save(path, constants):
    # A kind of run on one line; of them there are hundreds.
    kinds = constants.get("validation", {}).get("runs", [])
    marked = dict(constants)
    if kinds:
        marked["validation"] = {"runs": [f"@{i}@" for i in range(len(kinds))]}
    text = json.dumps(marked, indent=1, sort_keys=True)
    text = re.sub(r'"@(\d+)@"', lambda m: json.dumps(
        kinds[int(m.group(1))], sort_keys=True), text)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text + "\n")


def rounded(v):
    if isinstance(v, dict):
        return {k: rounded(w) for k, w in v.items()}
    return float(f"{v:.3g}") if isinstance(v, float) else v


def predicted_runs(command, constants, points):
    """Complete measured runs of all files, predicted with a file of constants."""
    runs = []
    for file in points:
        answer = subprocess.run(
            command + ["validate", file, "--constants", constants, "--json"],
            capture_output=True, text=True, check=False)
        if answer.returncode:
            sys.exit(answer.stderr)
        runs += [r for r in json.loads(answer.stdout)["runs"]
                 if "measured" in r and r["complete"]]
    return runs


def fitted_sources(path):
    with open(path, encoding="utf-8") as f:
        return set(json.load(f)["measured"]["sources"])


KIND = ("source", "chip", "stack", "experts", "context_parallel", "bits",
        "sequence", "gpus", "network_gbps")
# Published runs that nothing is fitted to.
HELD_OUT = ["test/Data/published/heldout.csv"]
# Errors that stand for the runs of one kind and source.
MOST_ERRORS = 12


def thinned(errors):
    """At most MOST_ERRORS quantiles of some errors, to three digits."""
    n = min(len(errors), MOST_ERRORS)
    at = (np.arange(n) + 0.5) / max(n, 1)
    chosen = np.sort(errors)[(at * len(errors)).astype(int)]
    return [float(f"{e:.3g}") for e in chosen]


def validate(command, path, points, halves):
    """Writes the field "validation" of the constants in `path`: for each kind
    of run the errors of these constants, and those of a half's constants that
    were fitted without the run's source."""
    held = {}
    sources = fitted_sources(path)
    for half in halves:
        fitted = fitted_sources(half)
        for r in predicted_runs(command, half, points):
            if r["source"] not in fitted:
                held.setdefault((r["source"], r["run"]), error_of(r))
    kinds = {}
    runs = predicted_runs(command, path, points + HELD_OUT)
    for r in runs:
        if r["source"] not in sources:  # nothing was fitted to it
            held[r["source"], r["run"]] = error_of(r)
    for r in runs:
        if r["adapters"]:
            continue
        kind = tuple(float(f"{r[k]:.4g}") if k == "network_gbps" else r[k]
                     for k in KIND)
        kinds.setdefault(kind, []).append(
            (error_of(r), held.get((r["source"], r["run"]))))
    table = []
    for kind, members in sorted(kinds.items()):
        table.append(dict(zip(KIND, kind), runs=len(members),
                          fitted=thinned([f for f, _ in members]),
                          held_out=thinned([h for _, h in members
                                            if h is not None])))
    with open(path, encoding="utf-8") as f:
        constants = json.load(f)
    constants["validation"] = {"runs": table}
    save(path, constants)


def error_of(run):
    return abs(run["predicted"] / run["measured"] - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", default="build/bin/tessera")
    folder = "test/Data/published/"
    parser.add_argument("--points", nargs="+", default=[
        folder + name for name in ("points.csv", "further.csv",
                                   "completed.csv")])
    parser.add_argument("--validate", metavar="FILE",
                        help="write the errors of these constants into it")
    parser.add_argument("--validate-halves", nargs="+", default=[
        folder + name for name in ("half_a.json", "half_b.json")])
    parser.add_argument("--out")
    parser.add_argument("--held-out", action="store_true",
                        help="also fit without each source and each half "
                             "(some minutes)")
    parser.add_argument("--halves", metavar="FOLDER",
                        help="fit each half and write its constants there")
    parser.add_argument("--ridge", type=float, default=0.05)
    parser.add_argument("--scale", type=float, default=0.05)
    parser.add_argument("--family", type=float, default=0.3)
    parser.add_argument("--leaf", type=float, default=0.6)
    parser.add_argument("--per-source", type=int, default=60)
    args = parser.parse_args()
    if args.validate:
        return validate(args.tessera.split(), args.validate, args.points,
                        args.validate_halves)
    predictor = Predictor(args.tessera.split(), read_rows(args.points),
                          args.per_source)
    tree = Tree(predictor, args.family, args.leaf)
    fit = Fit(predictor, tree, args.ridge, args.scale)
    everything = np.ones(len(predictor.runs), bool)
    x = fit.run(source_weights(predictor.runs, everything))
    r = predictor.residuals([tree.constants(x)])[0]
    report("fitted to all sources:", predictor.runs, r, everything)
    if args.out:
        write(args.out, tree, x, everything)
    if args.held_out:
        held_out(fit, x)
    if args.held_out or args.halves:
        by_halves(fit, args.halves)


if __name__ == "__main__":
    main()
