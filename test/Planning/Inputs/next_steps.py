"""next_steps.py DIR < PLAN.json: runs the commands that a plan ends with."""
import json
import os
import shlex
import subprocess
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
plan = json.load(sys.stdin)
commands = [step["command"] for step in plan["next"]]
names = [shlex.split(command)[1] for command in commands]
assert names == ["export", "compile", "explain"], names
for command in commands:
    words = shlex.split(command)
    if words[1] == "compile":  # as far as the layout is decided
        words += ["--compile-to", "plan"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
with open(os.path.join(folder, "train.sh")) as file:
    text = file.read()
assert plan["ranked"][0]["layout_text"] in text, text
with open(os.path.join(folder, "model.exe")) as file:
    mesh = plan["ranked"][0]["layout"]
    assert f'"dp" = {mesh["dp"]}, "tp" = {mesh["tp"]}' in file.read()
