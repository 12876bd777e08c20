"""Compares the numbers of two texts: compare_numbers.py RTOL EXPECTED < GOT.

Words must be equal, numbers within RTOL of the expected one; NaN equals nothing.
"""
import sys

tolerance = float(sys.argv[1])
expected = open(sys.argv[2]).read().split()
got = sys.stdin.read().split()
if len(expected) != len(got):
    sys.exit(f"expected {len(expected)} words, got {len(got)}")
for i, (want, have) in enumerate(zip(expected, got)):
    try:
        a, b = float(want), float(have)
    except ValueError:
        if want != have:
            sys.exit(f"word {i}: expected '{want}', got '{have}'")
        continue
    if not abs(a - b) <= tolerance * abs(a):
        sys.exit(f"word {i}: expected {want}, got {have}")
