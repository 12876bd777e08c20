#!/usr/bin/env python3
"""The table of flags says which commands have which.

    check_flag_table.py PAGE.md COMMAND=HELP.txt...

Every flag of a command's help stands in the table beside the command, and no
other.
"""
import pathlib
import re
import sys


def main():
    table = {}
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        row = re.match(r"\| `(--?[a-z-]+)` \| .* \| ([a-z ]+) \|$", line)
        if row:
            for command in row.group(2).split():
                table.setdefault(command, set()).add(row.group(1))
    wrong = 0
    for argument in sys.argv[2:]:
        command, path = argument.split("=", 1)
        flags = set(re.findall(r"^  (--?[a-z-]+)", pathlib.Path(path).read_text(), re.M)) - {"--help"}
        if not flags:
            print(f"{command}: its help lists no flag")
            wrong += 1
        listed = table.pop(command, set())
        for flag in sorted(flags ^ listed):
            print(f"{command}: {flag} is {'in the help' if flag in flags else 'in the table'} alone")
            wrong += 1
    for command in table:
        print(f"{command}: in the table, not asked for")
        wrong += 1
    print(f"{wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
