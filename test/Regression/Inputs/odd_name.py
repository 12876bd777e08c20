"""Plans for the model in the folder of argv[1] whose name is no text.

JSON must be JSON, and neither form may carry the name's control characters.
"""
import json
import os
import subprocess
import sys

folder = os.fsencode(sys.argv[1])
name = next(n for n in os.listdir(folder) if n.startswith(b"\xff"))
for command in (
    [b"plan", b"--cluster", b"h100-sxm:1x1"],
    [b"explain", b"--cluster", b"h100-sxm:1x1", b"--layout", b"dp=1"],
    [b"estimate"],
):
    call = [b"tessera", command[0], os.path.join(folder, name)] + command[1:]
    text = subprocess.run(call, check=True, capture_output=True).stdout
    assert b"\x1b" not in text, text
    text.decode()
    call.append(b"--json")
    answer = json.loads(subprocess.run(call, check=True, capture_output=True).stdout)
    assert "\x1b" not in answer["model"] and "\n" not in answer["model"], answer
