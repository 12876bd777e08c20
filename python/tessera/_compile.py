"""`tessera compile` from Python."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from ._tools import call, model_argument

if TYPE_CHECKING:
    from ._run import RunResult
    from ._tokens import Tokens

PathLike = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Phase:
    """One phase of the compiler: its name and what has happened when it ends."""

    name: str
    description: str


@dataclasses.dataclass(frozen=True)
class Executable:
    """A compiled, sharded program; `ranks` processes run it together."""

    path: pathlib.Path
    ranks: int

    def run(self, tokens: "Tokens", **options: Any) -> "RunResult":
        """Runs on `ranks` ranks of this machine; see `tessera.run`."""
        from ._run import run

        return run(self.path, tokens=tokens, ranks=self.ranks, **options)


def _flags(
    mesh: Optional[Mapping[str, int]],
    sequence: int,
    batch: int,
    dtype: Optional[str],
    chips: Optional[Sequence[str]],
    sequence_parallel: Optional[str],
) -> list[str]:
    flags = ["--sequence", str(sequence), "--batch", str(batch)]
    if mesh:
        flags += ["--mesh", ",".join(f"{name}={size}" for name, size in mesh.items())]
    if dtype:
        flags += ["--dtype", dtype]
    if chips:
        flags += ["--chip", ",".join(chips)]
    if sequence_parallel:
        flags += [f"--sequence-parallel={sequence_parallel}"]
    return flags


def compile(
    model: PathLike,
    *,
    output: PathLike,
    sequence: int,
    batch: int,
    mesh: Optional[Mapping[str, int]] = None,
    dtype: Optional[str] = None,
    chips: Optional[Sequence[str]] = None,
    sequence_parallel: Optional[str] = None,
) -> Executable:
    """Compiles a model folder to a sharded executable.

    `mesh` maps axis names to sizes (`{"dp": 2, "tp": 2}`; one rank without it),
    `sequence` is in tokens, `batch` is the global batch, `dtype` is "f32" or
    "bf16" (the checkpoint's own by default), `chips` are names or
    compute capabilities, "h100-sxm" or "sm_90". Raises `TesseraError`.
    """
    flags = _flags(mesh, sequence, batch, dtype, chips, sequence_parallel)
    call(["compile", model_argument(model), *flags, "-o", os.fspath(output)])
    ranks = 1
    for size in (mesh or {}).values():
        ranks *= size
    return Executable(pathlib.Path(output), ranks)


def dump(
    model: PathLike,
    phase: str,
    *,
    sequence: int,
    batch: int,
    mesh: Optional[Mapping[str, int]] = None,
    dtype: Optional[str] = None,
    chips: Optional[Sequence[str]] = None,
    sequence_parallel: Optional[str] = None,
) -> str:
    """The IR as it is when `phase` (see `phases()`) has ended."""
    flags = _flags(mesh, sequence, batch, dtype, chips, sequence_parallel)
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        target = pathlib.Path(folder) / "module.mlir"
        call(["compile", model_argument(model), *flags, "--compile-to", phase, "-o", str(target)])
        return target.read_text()


def phases() -> list[Phase]:
    """The compiler's phases in order."""
    return [Phase(p["name"], p["description"]) for p in json.loads(call(["phases", "--json"]))]
