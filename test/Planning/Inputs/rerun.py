"""Runs the explain command that a plan prints, with the plan's best layout in it,
and compares GPUs and step time with the plan's."""
import json
import shlex
import subprocess
import sys

plan = json.load(open(sys.argv[1]))
best = plan["ranked"][0]
line = [s["command"] for s in plan["next"] if s["purpose"] == "compare your own"][0]
words = shlex.split(line)
words[words.index("--layout") + 1] = best["layout_text"]
again = json.loads(subprocess.check_output(words + ["--json"]))
assert plan["gpus"] < 64, plan["gpus"]
assert again["gpus"] == plan["gpus"], (again["gpus"], plan["gpus"])
own = again["own"]["step_seconds"]
assert abs(own / best["step_seconds"] - 1) < 1e-9, (own, best["step_seconds"])
