#!/usr/bin/env python3
"""Sums up test reports in JUnit's XML: "N passed, N failed, N skipped" and why.

    test_summary.py BUILD REPORT.xml...

lit does not hand on why a GoogleTest case was skipped (it says "User interrupt");
the reason comes from running those cases, which end at once, again. Exit code 1
if a test failed or none passed.
"""
import collections
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET


def unit_reasons(build, names):
    """Test name -> what GTEST_SKIP said, for cases of the binaries in BUILD/test/Unit."""
    reasons = {}
    for binary in sorted((build / "test" / "Unit").glob("*Tests")):
        run = subprocess.run([binary, "--gtest_filter=" + ":".join(names)], capture_output=True, text=True, errors="replace")
        for text, name in re.findall(r": Skipped\n(.*?)\n+\[  SKIPPED \] (\S+)", run.stdout, re.S):
            reasons[name] = text.strip()
    return reasons


def main():
    build, *reports = map(pathlib.Path, sys.argv[1:])
    passed = failed = 0
    skipped = []
    for path in filter(pathlib.Path.exists, reports):
        for case in ET.parse(path).getroot().iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif (skip := case.find("skipped")) is not None:
                skipped.append((case.get("classname"), case.get("name"), skip.get("message")))
            else:
                passed += 1
    # lit's group is "Tessera-Unit._/BINARYTests/SUITE".
    full = [f"{group.split('Tests/', 1)[-1]}.{name}" for group, name, _ in skipped]
    units = [test for test, (_, _, reason) in zip(full, skipped) if reason == "User interrupt"]
    known = unit_reasons(build, units) if units else {}
    why = collections.Counter(known.get(test, reason) for test, (_, _, reason) in zip(full, skipped))
    for reason, count in sorted(why.items()):
        print(f"skipped {count}: {reason}")
    print(f"{passed} passed, {failed} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
