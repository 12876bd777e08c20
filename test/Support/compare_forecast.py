#!/usr/bin/env python3
"""Holds `tessera estimate --forward` against the program that is compiled.

usage: compare_forecast.py TESSERA TESSERA_OPT MODEL BATCH SEQUENCE LAYOUT...
For every layout: matrix and other FLOPs and bytes against the counts of the
compiled program's last tensor phase; the list of collectives, the arena and the
parameters against the manifest that the executable carries (and that the run
compares with the calls that it makes). Without parallelism matrix FLOPs are also
counted here, from config.json, with plain loops.
"""
import json
import pathlib
import re
import subprocess
import sys

tessera, opt, model, batch, sequence = sys.argv[1:6]


def call(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def manifest_of(scheduled):
    literal = re.search(r'@tessera_manifest\("((?:[^"\\]|\\.)*)"', scheduled).group(1)
    plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m.group(1), 16)), literal)
    return json.loads(plain.rstrip("\0"))


def plain_flops():
    """Multiplications and additions of one forward pass."""
    c = json.loads((pathlib.Path(model) / "config.json").read_text(encoding="utf-8"))
    hidden = c.get("n_embd", c.get("hidden_size"))
    layers = c.get("n_layer", c.get("num_hidden_layers"))
    heads = c.get("n_head", c.get("num_attention_heads"))
    kv = c.get("num_key_value_heads") or heads
    dim = c.get("head_dim") or hidden // heads
    encoder = c["architectures"][0].startswith("Bert")
    gpt = c["architectures"][0].startswith("GPT") or encoder
    inner = c.get("n_inner") or c.get("intermediate_size") or 4 * hidden
    windows = [0] * layers
    if c["architectures"] == ["MistralForCausalLM"]:
        windows = [c["sliding_window"] or 0] * layers
    elif c.get("use_sliding_window"):
        kinds = c.get("layer_types") or (["full_attention"] * c["max_window_layers"]
                                         + ["sliding_attention"] * layers)
        windows = [c["sliding_window"] if k == "sliding_attention" else 0 for k in kinds[:layers]]
    rows, positions = int(batch), int(sequence)
    weights = layers * (2 * heads * dim * hidden + 2 * kv * dim * hidden
                        + (2 if gpt else 3) * hidden * inner)
    # A masked language model has a square linear before its head.
    head = hidden * c["vocab_size"] + (hidden * hidden if encoder else 0)
    flops = 2 * rows * positions * (weights + head)
    for window in windows:
        pairs = sum(1 for i in range(positions) for j in range(positions if encoder else i + 1)
                    if not window or i - j < window)
        flops += 4 * rows * heads * dim * pairs
    return flops


for layout in sys.argv[6:]:
    promised = json.loads(
        call(tessera, "estimate", model, "--forward", "--layout", layout, "--batch", batch,
             "--sequence", sequence, "--json"))
    if layout == "dp=1" and promised["matmul_flops"] != plain_flops():
        sys.exit(f"FLOPs: promised {promised['matmul_flops']}, by plain loops {plain_flops()}")
    sizes = dict(part.split("=") for part in layout.split(",") if "=" in part)
    mesh = f"dp={sizes.get('dp', 1)},tp={sizes.get('tp', 1)}"
    flags = ["--mesh", mesh, "--batch", batch, "--seq", sequence, "--chip", "sm_80", "-o", "-",
             "--sequence-parallel", "on" if "sp" in layout.split(",") else "off"]
    tiled = call(tessera, "compile", model, *flags, "--compile-to", "tile")
    counted = json.loads(call(opt, "--tessera-print-counts=json", "-o", "/dev/null", text=tiled))
    for what in ("matmul_flops", "vector_flops", "bytes_read", "bytes_written", "parameter_bytes",
                 "peak_live_bytes", "arena_bytes", "collectives"):
        if promised[what] != counted[what]:
            sys.exit(f"{layout}: {what}: promised {promised[what]}, compiled {counted[what]}")
    manifest = manifest_of(call(tessera, "compile", model, *flags, "--compile-to", "schedule"))
    stated = sorted(
        (c["op"], tuple(manifest["communicators"][c["communicator"]]["axes"]), c["dtype"],
         c["count"], c["calls"]) for c in manifest["collectives"])
    listed = sorted((c["op"], tuple(c["communicator"]), c["dtype"], c["count"], c["calls"])
                    for c in promised["collectives"])
    if listed != stated:
        sys.exit(f"{layout}: collectives: promised {listed}, stated {stated}")
    if promised["arena_bytes"] != manifest["arena_bytes"]:
        sys.exit(f"{layout}: arena: promised {promised['arena_bytes']}, "
                 f"stated {manifest['arena_bytes']}")
    print(f"{layout}: {len(listed)} kinds of collectives, {promised['matmul_flops']} FLOPs, "
          f"{promised['arena_bytes']} bytes: equal")
