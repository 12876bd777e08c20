#!/usr/bin/env python3
"""Writes docs/phases.md: one block of a small Llama after every phase.

    generate_phase_docs.py --tessera build/bin/tessera            writes the page
    generate_phase_docs.py --tessera build/bin/tessera --check    compares with it

The phases and what they do come from `tessera phases --json`, the IR from
`--dump-phases-to`. What is left out is left out by the rules of this script, so
the page says what the compiler does and a test can keep it so.
"""
import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODEL = "test/Data/models/llama-gqa"
FLAGS = ["--mesh", "dp=2,tp=2", "--seq", "40", "--batch", "2", "--dtype", "f32", "--chip", "sm_80"]
PARAMETERS = ("q", "o")  # one of each kind that a rank holds
COLUMNS = 112

HEAD = """# One block on its way through the house

This page is written by `scripts/generate_phase_docs.py`; a test compares it with
what the compiler does. Do not edit it, run the script.

The model is `{model}`: two layers, hidden size 78, six heads
of ten with two key-value heads, none of it a multiple of a tile. It is compiled by

```console
$ tessera compile {model} \\
    {flags} \\
    --dump-phases-to phases -o model
```

and of each dump this page shows the function of one block, which the program
calls once for each layer. Left out by rule: `...` stands for attributes of the
module and for the parameters besides `@{first}` and `@{second}`; constants are not
shown (their names tell their values, or the values take their place); `global` is
`#gpu.address_space<global>`; long lines are wrapped.

| phase | what has happened when it ends |
|---|---|
{table}
"""

NOTES = {
    "import": """The graph as the model's definition says it, on global shapes. A parameter is a
symbol with the checkpoint's own tensor name; `{layer}` stands for the number of
the layer that calls the block. Heads are no dimension: splitting the width splits
heads.""",
    "plan": """Nothing moved: parameters and arguments have a `sharding`. Projections into the
block are split by rows (`{"tp"}` on the first dimension), those out of it by
columns; the residual stream is split over the sequence.""",
    "partition": """The program of one rank. Shapes are local, and every byte between ranks is an
op: an all-gather over the sequence before the column-parallel products, a
reduce-scatter behind the row-parallel ones, which is all that sequence
parallelism is.""",
    "fuse": """Each group is one kernel: a family, the ops that it computes, and what goes in
and out. The residual add and the norm behind it are one pass over the rows, and
SwiGLU is done where its up projection leaves its tile.""",
    "tile": """The same groups, with `config` on those that have a choice.""",
    "kernels": """Groups became launches of functions in one `gpu.module`. Equal groups share a
kernel: keys and values are both projected by one. Below the block, the shortest
kernel it launches.""",
    "schedule": """Tensors became ranges of two arenas: `%arg1` holds the parameters (those of the
layer at an offset that the layer's number gives), `%arg2` the activations, placed by
liveness. Collectives are NCCL's own calls on the stream.""",
    "binary": """What the host does for one block, as LLVM calls: launches name a kernel of the
embedded binary, which holds an image for each kind of device. Address arithmetic is
not shown. Below it the same kernel as PTX.""",
}


def function(text, name):
    """Lines of the function `@name`, from its head to its closing brace."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(rf"\s*(gpu|func|llvm)\.func.*@{re.escape(name)}\(", line))
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith(" " * indent + "}"))
    return [line[indent:] for line in lines[start : end + 1]]


def shorten(lines):
    """The rules of the page, line by line."""
    result, values = [], {}
    for line in lines:
        # LLVM's constants have no telling names: their values take their place.
        if constant := re.match(r"\s*(%\d+) = llvm\.mlir\.constant\((-?\d+) : \w+\)", line):
            values[constant[1]] = constant[2]
        if re.search(r"= (arith|llvm\.mlir)\.constant", line):
            continue
        line = re.sub(r"%\d+", lambda use: values.get(use[0], use[0]), line)
        line = re.sub(r"(?<=\S)  +", " ", line)
        line = line.replace("#gpu.address_space<global>", "global")
        # Types of launch arguments repeat those of the kernel.
        if "gpu.launch_func" in line:
            line = re.sub(r"(%[\w#]+) : (memref<[^()]*?>|!llvm\.ptr|i64)(?=[,)])", r"\1", line)
        result.extend(wrap(line))
    return result


def wrap(line):
    """Breaks a long line behind a blank, continued four columns deeper."""
    indent = len(line) - len(line.lstrip())
    pieces, rest = [], line
    while len(rest) > COLUMNS:
        blanks = [i for i in range(indent + 24, COLUMNS) if rest[i] == " "]
        # Rather not inside a type: "<" and ">" are balanced before the break.
        outside = [i for i in blanks if rest[:i].count("<") == rest[:i].replace("->", "").count(">")]
        if not blanks:
            break
        cut = max(outside or blanks)
        pieces.append(rest[:cut].rstrip())
        rest = " " * (indent + 4) + rest[cut + 1 :].lstrip()
    return pieces + [rest]


def head(text):
    """The module's line and a few parameters."""
    mesh = re.search(r"tessera\.mesh = #tessera\.mesh<[^>]*>, ", text.splitlines()[0])
    lines = [f"module attributes {{{mesh.group(0) if mesh else ''}tessera.model = {{...}}}} {{"]
    for line in text.splitlines():
        if re.match(rf"\s*tessera\.parameter @({'|'.join(PARAMETERS)}) ", line):
            lines.extend(wrap(re.sub(r" \{init_.*\}$", "", line)))
    return lines + ["  ..."]


def block(lines, language="mlir"):
    return "\n".join([f"```{language}", *lines, "```", ""])


def launched(lines):
    """Kernels that a block launches."""
    return sorted(set(re.findall(r"@kernels::@(\w+)", "\n".join(lines))))


def section(name, text, ptx, shortest):
    lines = function(text, "block")
    if name in ("import", "plan", "partition"):
        return block(head(text) + ["  " + line for line in shorten(lines)] + ["  ..."])
    if name == "kernels":
        return block(shorten(lines)) + "\n" + block(shorten(function(text, shortest)))
    if name == "binary":
        shown = r"gpu\.launch_func|llvm\.call|llvm\.return|llvm\.mlir\.constant"
        calls = [line for line in lines[1:-1] if re.search(shown, line)]
        kernel = re.search(rf"^\.visible \.entry {shortest}\(.*?^\}}", ptx, re.M | re.S).group(0)
        kernel = [line for line in kernel.expandtabs(4).splitlines() if line]
        return block(shorten([lines[0], *calls, lines[-1]])) + "\n" + block(kernel, "ptx")
    return block(shorten(lines))


def generate(tessera):
    def run(*arguments):
        done = subprocess.run([tessera, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    phases = json.loads(run("phases", "--json"))
    with tempfile.TemporaryDirectory() as folder:
        ptx = run("compile", MODEL, *FLAGS, "--emit=ptx", "--dump-phases-to", folder)
        dumps = [(pathlib.Path(folder) / f"{i + 1}.{phase['name']}.mlir").read_text() for i, phase in enumerate(phases)]
    texts = dict(zip((phase["name"] for phase in phases), dumps))
    shortest = min(
        launched(function(texts["kernels"], "block")),
        key=lambda kernel: (len(function(texts["kernels"], kernel)), kernel))
    page = [HEAD.format(
        model=MODEL, flags=" ".join(FLAGS), first=PARAMETERS[0], second=PARAMETERS[1],
        table="\n".join(f"| [`{p['name']}`](#{p['name']}) | {p['description']} |" for p in phases))]
    for phase in phases:
        name = phase["name"]
        if name not in NOTES:
            sys.exit(f"error: {pathlib.Path(__file__).name} says nothing of phase '{name}'; add it to NOTES")
        page.append(f"## {name}\n\n{NOTES[name]}\n\n{section(name, texts[name], ptx, shortest)}")
    return "\n".join(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", default=str(ROOT / "build/bin/tessera"))
    parser.add_argument("--output", default=str(ROOT / "docs/phases.md"))
    parser.add_argument("--check", action="store_true", help="compare with the page instead of writing it")
    args = parser.parse_args()
    page = generate(args.tessera)
    if not args.check:
        pathlib.Path(args.output).write_text(page)
        return
    old = pathlib.Path(args.output).read_text()
    if old != page:
        sys.stdout.writelines(difflib.unified_diff(
            old.splitlines(True), page.splitlines(True), "docs/phases.md", "what the compiler does"))
        sys.exit("error: docs/phases.md is out of date; run scripts/generate_phase_docs.py")


if __name__ == "__main__":
    main()
