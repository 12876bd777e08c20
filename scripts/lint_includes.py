#!/usr/bin/env python3
"""Holds the rule of who may include whom (docs/design.md, "Rooms").

Reads the #include lines (and the TableGen include lines) of every source file
and reports each one that enters a room which its own room may not enter. Also
reports files above 900 lines. Exit status 1 if there is any finding.
"""
import pathlib
import re
import sys

# Room -> rooms of ours it may include. Every room may include itself.
ALLOWED = {
    "Support": set(),
    "Hardware": {"Support"},
    "Interfaces": {"Support"},
    "Runtime": set(),
    "dialects": {"Support", "Interfaces"},
    "Analysis": {"Support", "Interfaces", "dialects"},
    "CostModel": {"Support", "Hardware", "Interfaces"},
    "Planning": {"Support", "Hardware", "Interfaces", "CostModel", "Analysis", "dialects", "Import"},
    "Import": {"Support", "Interfaces", "dialects", "Runtime"},
    "Conversion": {"Support", "Hardware", "Interfaces", "dialects", "Analysis"},
    "Target": {"Support", "Hardware", "Interfaces", "dialects", "Conversion", "Runtime"},
    "Transforms": {"Support", "Hardware", "Interfaces", "dialects", "Analysis", "CostModel",
                   "Planning", "Conversion"},
    "Forecast": {"Support", "Hardware", "Interfaces", "dialects", "Analysis", "CostModel", "Planning",
                 "Import", "Transforms"},
    "Pipelines": {"Support", "Hardware", "Interfaces", "dialects", "Analysis", "CostModel", "Planning",
                  "Import", "Conversion", "Target", "Transforms", "Forecast", "Runtime", "Tuner"},
    "Tuner": {"Support", "Hardware", "Interfaces", "dialects", "Analysis", "CostModel", "Conversion",
              "Target", "Runtime"},
}
ROOMS = set(ALLOWED)
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]', re.M)
SUFFIXES = {".h", ".cpp", ".td", ".c", ".hpp"}
MLIR_FREE = {"Runtime", "CostModel", "Hardware"}


def room_of(path: str):
    """The room of a repository or include path, or None."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:1] == ("dialects",):
        return "dialects"
    if parts[:2] == ("include", "tessera"):
        parts = parts[2:]
    elif parts[:1] in (("lib",), ("tessera",)):
        parts = parts[1:]
    else:
        return None
    return parts[0] if parts and parts[0] in ROOMS else None


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    findings = []
    for top in ("include", "lib", "dialects", "tools", "test"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8", errors="replace")
            lines = text.count("\n")
            if lines > 900:
                findings.append(f"{name}: {lines} lines, at most 900 allowed: split it by role")
            room = room_of(name)
            for match in INCLUDE.finditer(text):
                target = match.group(1)
                line = text.count("\n", 0, match.start(1)) + 1
                if room in MLIR_FREE and target.startswith("mlir/"):
                    findings.append(f"{name}:{line}: {room} may not use MLIR ({target})")
                if room == "Runtime" and target.startswith("llvm/"):
                    findings.append(f"{name}:{line}: Runtime may not use LLVM ({target})")
                other = room_of(target)
                if room and other and other != room and other not in ALLOWED[room]:
                    findings.append(f"{name}:{line}: {room} may not include {other} ({target})")
                if room and target.startswith("tools/"):
                    findings.append(f"{name}:{line}: a library may not include a tool ({target})")
    print("\n".join(findings) if findings else "includes: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
