#!/usr/bin/env python3
"""The single changes of `tessera explain --json` change what they are named for.

    check_changes.py EXPLAIN.json...

Fields that change besides are named behind "and so", no two changes lead to one
layout, and an axis that is said to change does.
"""
import json
import sys

FIELDS = {
    "overlap": set(),
    "the microbatch": {"mb"},
    "recomputation": {"recompute", "recompute-layers"},
    "virtual stages": {"vpp", "schedule", "chunk_layers"},
    "sharding": {"zero", "shard"},
    "sequence parallelism": {"sp"},
    "the dispatcher": {"dispatcher"},
    "ep": {"ep", "etp"},
    "tp": {"tp"},
    "pp": {"pp"},
    "cp": {"cp"},
    "layers": {"chunk_layers"},
}


def check(x):
    own = x["own"]["layout"]
    for change in x["changes"]:
        layout, name = change["layout"], change["choice"]
        differ = {k for k in own.keys() | layout.keys() if own.get(k) != layout.get(k)}
        differ = {k for k in differ if "overlap" not in k}
        wanted = FIELDS[name]
        if wanted and not differ & wanted:
            yield f"{name}: nothing of it changes"
        forced = change["fields"].partition(", and so ")[2]
        for field in differ - wanted:
            if field.replace("chunk_layers", "layers") not in forced:
                yield f"{name}: {field} changes too, which '{change['fields']}' does not say"
    texts = [c["layout_text"] for c in x["changes"]]
    if len(set(texts)) != len(texts):
        yield "a layout is there twice"


def main():
    count = 0
    problems = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            x = json.load(f)
        count += len(x["changes"])
        problems += check(x)
    print(*problems, f"{count} changes", sep="\n")
    sys.exit(1 if problems or not count else 0)


main()
