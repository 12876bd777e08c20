"""Finding and calling the command-line tools."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import warnings
from typing import Any, List, Mapping, Sequence, Tuple, Type, TypeVar, Union


Record = TypeVar("Record")


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


def call_with_notes(arguments: Sequence[str]) -> Tuple[str, Tuple[str, ...]]:
    """Runs `tessera` with `arguments`; returns its standard output, and the
    notes that it made on the way. The tool's warnings become Python's."""
    command = [find_tool(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = done.stderr.strip() or f"exit status {done.returncode}"
        raise TesseraError(message, done.returncode, command)
    for line in done.stderr.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: ") :], stacklevel=4)
    notes = [line[6:] for line in done.stderr.splitlines() if line.startswith("note: ")]
    return done.stdout, tuple(notes)


def call(arguments: Sequence[str]) -> str:
    """Runs `tessera` with `arguments`; returns its standard output."""
    return call_with_notes(arguments)[0]


def call_json(arguments: Sequence[str]) -> Any:
    """Runs `tessera` with `arguments` and reads the JSON that it prints."""
    return json.loads(call(arguments))


def model_argument(model: Union[str, "os.PathLike[str]"]) -> str:
    """A model as one word of a command line: no name of a file is a flag."""
    path = os.fspath(model)
    return os.path.join(os.curdir, path) if path.startswith("-") else path


def flags(**options: Any) -> List[str]:
    """Options as a command line: `global_batch=8` becomes `--global-batch=8`,
    True a flag alone; None, False and "" are left out."""
    line = []
    for name, value in options.items():
        if value is None or value is False or value == "":
            continue
        flag = "--" + name.replace("_", "-")
        line.append(flag if value is True else f"{flag}={value}")
    return line


def record(kind: Type[Record], data: Mapping[str, Any], **more: Any) -> Record:
    """A dataclass from an object of the JSON, whose other keys are left alone:
    a newer tool may print more."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in data.items() if name in names}, **more)
