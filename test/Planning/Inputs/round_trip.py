"""Plans, writes the plan as its framework's file with the command that the plan
gives, and explains that file: layout, time and software must be the plan's.

usage: round_trip.py STACK FILE [options of plan ...]
"""

import json
import shlex
import subprocess
import sys

stack, file, *options = sys.argv[1:]
# What a file leaves to the training code is given again.
given = [o for o in options if o.startswith(("--sequence", "--global-batch"))]
model, cluster = "llama3-8b", "h100-sxm:2x8"
for o in list(options):
    if o.startswith("--model="):
        model = o.split("=")[1]
        options.remove(o)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stderr}")
    return done


plan = json.loads(
    run(["tessera", "plan", model, "--cluster", cluster, "--stack", stack, "--json",
         "--top", "1"] + options).stdout)
best = plan["ranked"][0]
export = shlex.split(plan["next"][0]["command"])
assert plan["next"][0]["purpose"] == "train with it", plan["next"]
export[export.index("-o") + 1] = file
notes = run(export).stderr
# What the training code says is given again.
lost = [n for n in notes.splitlines() if "not expressed" in n and not any(
    ("sequence length" in n and o.startswith("--sequence")) or
    ("global batch" in n and o.startswith("--global-batch")) for o in given)]
assert not lost, notes
explain = json.loads(
    run(["tessera", "explain", model, "--cluster", cluster, "--from", file, "--json"] +
        given).stdout)
own = explain["own"]
software = next(a for a in explain["assumptions"] if a.startswith("software: "))
assert software.split()[1].rstrip(",") == stack, software
assert own["layout_text"] == best["layout_text"], (own["layout_text"], best["layout_text"])
assert own["step_seconds"] == best["step_seconds"], (own["step_seconds"], best["step_seconds"])
assert explain["assumptions"] and explain["sequence"] == plan["sequence"], explain
assert explain["global_batch"] == plan["global_batch"], explain
assert not explain["stack_cannot_run"] and not explain["switched_off"], explain
print(best["layout_text"])
