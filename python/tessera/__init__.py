"""Tessera: compile transformer models to sharded executables, and run them.

    >>> import tessera
    >>> exe = tessera.compile("path/to/model", mesh={"dp": 2, "tp": 2},
    ...                       sequence=128, batch=4, output="model.exe")
    >>> result = exe.run(tokens="tokens.txt")
    >>> result.loss

The functions are typed fronts of the command-line tools; options have the
same names and meanings, and a failing tool raises `TesseraError` with the
tool's own message. The tools are looked up in `$TESSERA_BIN`, then on `PATH`.
"""

from ._compile import Executable, Phase, compile, dump, phases
from ._run import RunResult, run
from ._tools import TesseraError, find_tool

__all__ = [
    "Executable",
    "Phase",
    "RunResult",
    "TesseraError",
    "compile",
    "dump",
    "find_tool",
    "phases",
    "run",
]
