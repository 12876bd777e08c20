#!/usr/bin/env python3
"""Every option that a page names is one that a tool has.

    check_flags.py PAGE.md... -- HELP.txt...

Options are --words in the pages' code; the help texts are what the tools print.
An option with a value that the help lists (`--emit=ptx`) must have that value.
"""
import pathlib
import re
import sys

ELSEWHERE = {"--no-python", "--nproc-per-node"}  # torchrun's own


def main():
    split = sys.argv.index("--")
    known = " ".join(pathlib.Path(path).read_text() for path in sys.argv[split + 1 :])
    options = set(re.findall(r"--[a-z][a-z-]*", known)) | ELSEWHERE
    choices = dict(re.findall(r"(--[a-z-]+)[= ]<?([a-z0-9_]+(?:\|[a-z0-9_]+)+)>?", known))
    checked, wrong = 0, 0
    for path in sys.argv[1:split]:
        for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
            for option, value in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)(?:[= ]([a-z0-9_]+(?=[ `]|$)))?", line):
                checked += 1
                if option not in options:
                    problem = f"no tool has an option {option}"
                elif value and option in choices and value not in choices[option].split("|"):
                    problem = f"{option} takes {choices[option]}, not {value}"
                else:
                    continue
                wrong += 1
                print(f"{pathlib.Path(path).name}:{number}: {problem}")
    print(f"{checked} options, {wrong} unknown")
    sys.exit(1 if wrong or not checked else 0)


if __name__ == "__main__":
    main()
