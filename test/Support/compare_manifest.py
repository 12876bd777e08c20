#!/usr/bin/env python3
"""Holds what is counted in the IR against what the program's manifest states.

usage: compare_manifest.py COUNTS.json SCHEDULED.mlir
COUNTS.json is what tessera-print-counts=json prints, SCHEDULED.mlir the module
after tessera-schedule. Collectives and arena bytes must be equal; the run
compares the manifest with the calls that it makes.
"""
import json
import re
import sys

counts = json.load(open(sys.argv[1], encoding="utf-8"))
text = open(sys.argv[2], encoding="utf-8").read()
literal = re.search(r'@tessera_manifest\("((?:[^"\\]|\\.)*)"', text).group(1)
plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m.group(1), 16)), literal)
manifest = json.loads(plain.rstrip("\0"))

counted = sorted(
    (c["op"], tuple(c["communicator"]), c["dtype"], c["count"], c["calls"])
    for c in counts["collectives"]
)
stated = sorted(
    (c["op"], tuple(manifest["communicators"][c["communicator"]]["axes"]), c["dtype"], c["count"], c["calls"])
    for c in manifest["collectives"]
)
if counted != stated:
    sys.exit(f"collectives differ\ncounted {counted}\nstated  {stated}")
if counts["arena_bytes"] != manifest["arena_bytes"]:
    sys.exit(f"arena: counted {counts['arena_bytes']}, stated {manifest['arena_bytes']}")
print(f"{len(counted)} kinds of collectives, {counts['arena_bytes']} bytes of arena: equal")
