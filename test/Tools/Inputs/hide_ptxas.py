#!/usr/bin/env python3
"""Runs a command as on a machine without ptxas: hide_ptxas.py COMMAND...

Folders that hold one are covered by an empty one in a namespace of our own, and
nothing in the environment names it. Where covering is not allowed, an empty
TESSERA_PTXAS says that there is none.
"""
import glob
import os
import shutil
import subprocess
import sys

command = sys.argv[1:]
environment = {k: v for k, v in os.environ.items() if k not in ("TESSERA_PTXAS", "CUDA_PATH", "CUDA_HOME")}
folders = [os.path.join(folder, "") for folder in environment["PATH"].split(os.pathsep)]
folders += ["/usr/local/cuda/bin/"] + [os.path.join(os.environ[k], "bin/") for k in ("CUDA_PATH", "CUDA_HOME")
                                       if k in os.environ]
roots = {sys.prefix, os.path.dirname(os.path.dirname(shutil.which("python3") or "/usr/bin/python3")),
         os.environ.get("VIRTUAL_ENV", sys.prefix), "/usr/local", "/usr"}
for root in roots:
    folders += glob.glob(f"{root}/lib/python3*/*-packages/nvidia/*/bin/")
found = sorted({os.path.realpath(folder) for folder in folders if os.path.exists(folder + "ptxas")})
script = 'for f in $HIDE; do mount -t tmpfs tmpfs "$f" || exit 77; done; exec "$@"'
probe = subprocess.run(["unshare", "-rm", "sh", "-c", script, "-", "true"], env={**environment, "HIDE": " ".join(found)},
                       check=False, stderr=subprocess.DEVNULL)
if probe.returncode == 0:
    command = ["unshare", "-rm", "sh", "-c", script, "-", *command]
    environment["HIDE"] = " ".join(found)
else:
    environment["TESSERA_PTXAS"] = ""
sys.exit(subprocess.run(command, env=environment, check=False).returncode)
