"""Finding and calling the command-line tools."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from typing import Sequence


class TesseraError(RuntimeError):
    """A tool failed. The text is the tool's own message; `code` its exit status."""

    def __init__(self, message: str, code: int, command: Sequence[str]):
        super().__init__(message)
        self.code = code
        self.command = list(command)


def find_tool(name: str = "tessera") -> str:
    """Path of a tool: `$TESSERA_BIN/name` if the variable is set, else on `PATH`."""
    folder = os.environ.get("TESSERA_BIN")
    if folder:
        path = pathlib.Path(folder) / name
        if path.is_file():
            return str(path)
        raise FileNotFoundError(f"TESSERA_BIN={folder} has no '{name}'")
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"'{name}' is not on PATH; set TESSERA_BIN to the folder that holds it"
            " (build/bin after scripts/quickstart.sh)"
        )
    return found


def call(arguments: Sequence[str]) -> str:
    """Runs `tessera` with `arguments`; returns its standard output."""
    command = [find_tool(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = done.stderr.strip() or f"exit status {done.returncode}"
        raise TesseraError(message, done.returncode, command)
    return done.stdout
