#!/usr/bin/env python3
"""Keeps what README.md shows of the commands' output true.

    generate_readme.py --bin build/bin            writes the new output
    generate_readme.py --bin build/bin --check    compares with it

The page is its own template: a `$ tessera ...` line in a console block is run,
and each line shown below it stands for the line of the output that begins the
same; "..." stands for lines or parts that are left out. Written is what the
commands print now. Compared are words and layouts to the letter, numbers of the
cost model within a tenth: they move a little whenever a constant does.
"""
import argparse
import difflib
import math
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOLERANCE = 0.1
LOSS_TOLERANCE = 1e-5  # of `loss`, which tests hold elsewhere
NUMBER = re.compile(r"\d[\d.]*")
PARTS = re.compile(r"(; |: |, )")
# What a command of the page needs that the page does not make.
BEFORE = "tessera export --to megatron --layout dp=8,tp=8,pp=2,sp,mb=1 --model llama3-70b --global-batch 1024 -o train.sh"


def skeleton(text):
    """The text with its numbers and its columns' widths taken out."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", text)).strip()


def label(line):
    """What a line of a table or a sentence is known by."""
    words = skeleton(line).split(" ")
    return " ".join(words[:2]) if words[0].startswith("#") else words[0]


def fill_parts(shown, actual):
    """The parts of `actual` that `shown` has, "..." where parts are left out."""
    tokens, out, at = PARTS.split(actual), [], 0
    for token in PARTS.split(shown):
        words = token.split(" ")
        if token == "..." or PARTS.fullmatch(token):
            out.append(token)
            continue
        cut = len(words) - 1 if words[-1] == "..." else None
        wanted = " ".join(words[:cut])
        scores = [difflib.SequenceMatcher(None, skeleton(wanted), skeleton(" ".join(t.split(" ")[:cut]))).ratio()
                  for t in tokens[at:]]
        if not scores or max(scores) < 0.6:
            raise ValueError(f"'{wanted}' is no longer in the line '{actual}'")
        at += scores.index(max(scores))
        found = tokens[at]
        out.append(" ".join(found.split(" ")[:cut]) + " ..." if cut is not None else found)
        at += 1
    return "".join(out)


def fill(shown, output):
    """The lines of `output` that stand for those of `shown`."""
    out, at = [], 0
    for line in shown:
        if line.strip() == "...":
            out.append(line)
            continue
        found = next((i for i in range(at, len(output)) if label(output[i]) == label(line)), None)
        if found is None:
            raise ValueError(f"nothing begins like '{line}' any more")
        new = output[found]
        out.append(fill_parts(line, new) if "..." in line else new)
        at = found + 1
    return out


def same(shown, new):
    """Whether `new` says what `shown` says."""
    if skeleton(shown) != skeleton(new):
        return False
    for a, b in zip(NUMBER.finditer(shown), NUMBER.finditer(new)):
        before = shown[a.start() - 1:a.start()]
        if before in ("=", "+", "*"):  # of a layout
            if a.group() != b.group():
                return False
            continue
        old, now = (float(m.group().rstrip(".")) for m in (a, b))
        relative = LOSS_TOLERANCE if shown.startswith("loss ") else TOLERANCE
        # A share below two percent has one digit that counts.
        absolute = 0.11 if "%" in shown and old < 2 else 0
        if not math.isclose(old, now, rel_tol=relative, abs_tol=absolute):
            return False
    return True


class Page:
    def __init__(self, bin_dir, folder):
        self.env = {"PATH": f"{bin_dir}:/usr/bin:/bin"}
        self.folder = pathlib.Path(folder)
        (self.folder / "test").symlink_to(ROOT / "test")
        self.outputs = {}
        self.run(BEFORE)

    def run(self, command):
        words = shlex.split(command, comments=True)
        target = None
        if ">" in words:
            target = words[words.index(">") + 1]
            words = words[:words.index(">")]
        done = subprocess.run(words, cwd=self.folder, env=self.env, text=True, capture_output=True)
        if done.returncode != 0:
            raise ValueError(f"'{command}' failed: {done.stderr.strip()}")
        if target:
            (self.folder / target).write_text(done.stdout)
            return []
        self.outputs[words[1]] = done.stdout
        return done.stdout.splitlines()

    def regenerate(self, text):
        """The page with the commands' output of today."""
        lines, out = text.splitlines(), []
        i, console = 0, False
        while i < len(lines):
            line = lines[i]
            i += 1
            out.append(line)
            if line.startswith("```"):
                console = line == "```console"
            if not console or not re.match(r"\$ (tessera|seq) ", line):
                continue
            shown = []
            while i < len(lines) and not lines[i].startswith(("$ ", "```")):
                shown.append(lines[i])
                i += 1
            # A command is run where nothing is shown as well: it has to work.
            out += fill(shown, self.run(line[2:]))
        return "\n".join(out) + "\n"


def from_python(text, plan):
    """The comment behind `print(plan.best)` from the table of the plan."""
    def replace(match):
        row = re.search(r"^1\s+(\S+ \S+)\s+(\S+)", plan, re.M)
        layout = re.search(r"^best: (.*)$", plan, re.M).group(1)
        said = f"{layout}: {row.group(1)} a step, {row.group(2)} tokens/s/GPU"
        return match.group(1) + fill_parts(match.group(2).removesuffix(", ..."), said) + ", ..."
    return re.sub(r"^(print\(plan\.best\)\s+# )(.*)$", replace, text, flags=re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="where tessera is")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "README.md")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = options.page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        page = Page(options.bin.resolve(), folder)
        try:
            new = from_python(page.regenerate(text), page.outputs["plan"])
        except ValueError as error:
            sys.exit(f"error: {options.page.name}: {error}; mend the page by hand")
    if not options.check:
        options.page.write_text(new)
        return
    wrong = [(a, b) for a, b in zip(text.splitlines(), new.splitlines()) if a != b and not same(a, b)]
    for a, b in wrong:
        print(f"-{a}\n+{b}")
    if wrong:
        sys.exit(f"error: {options.page.name} is out of date; run scripts/generate_readme.py")


if __name__ == "__main__":
    main()
