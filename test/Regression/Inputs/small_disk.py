#!/usr/bin/env python3
"""Runs a command with a file system of 1 MiB mounted at a folder.

    small_disk.py FOLDER -- COMMAND...

The mount lives in a namespace of its own. Says twice that it cannot mount where
that is not allowed.
"""
import subprocess
import sys

folder, _, *command = sys.argv[1:]
script = (
    'mount -t tmpfs -o size=1m tmpfs "$0" || exit 77; "$@"; code=$?; '
    '[ $code != 0 ] || exit 1; echo "$(ls -A "$0" | wc -l) files are left"'
)
done = subprocess.run(["unshare", "-rm", "sh", "-c", script, folder, *command], check=False,
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if done.returncode == 77 or "unshare" in done.stdout:
    print("cannot mount\ncannot mount")
else:
    print(done.stdout, end="")
    sys.exit(done.returncode)
