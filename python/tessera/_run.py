"""`tessera run` from Python."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from typing import Any, Mapping, Optional

from ._compile import PathLike
from ._tokens import Tokens, write_tokens
from ._tools import call


@dataclasses.dataclass(frozen=True)
class RunResult:
    """What rank 0 reports. `loss` is the mean negative log-likelihood (nats) of
    the `tokens` tokens that count; `report` is the whole JSON report: mesh,
    device, milliseconds of each pass, collectives."""

    loss: float
    tokens: int
    report: Mapping[str, Any]


def run(
    executable: PathLike,
    *,
    tokens: Tokens,
    ranks: Optional[int] = None,
    device: Optional[str] = None,
    weights: Optional[PathLike] = None,
    output: Optional[PathLike] = None,
) -> RunResult:
    """Runs an executable on this machine, on the ranks of its mesh.

    `tokens` is a file of batch x sequence token ids or the ids themselves: a
    flat sequence (one text), rows, or an array of numpy or PyTorch with one or
    two dimensions. `ranks` is only needed where the program does not say how
    many (one that was stripped). `device` "auto", "virtual"
    or "cuda", `weights` the checkpoint folder if it is not where it was at compile
    time, `output` a file for the per-token negative log-likelihoods. Raises
    `TesseraError`; `TypeError` and `ValueError` for tokens that are none.
    """
    if isinstance(tokens, (str, os.PathLike)):
        return _run(executable, tokens, ranks, device, weights, output)
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        path = write_tokens(tokens, pathlib.Path(folder))
        return _run(executable, path, ranks, device, weights, output)


def _run(
    executable: PathLike,
    tokens: PathLike,
    ranks: Optional[int],
    device: Optional[str],
    weights: Optional[PathLike],
    output: Optional[PathLike],
) -> RunResult:
    arguments = ["run", os.fspath(executable), "--tokens", os.fspath(tokens), "--json"]
    if ranks is not None:
        arguments[1:1] = ["-n", str(ranks)]
    if device:
        arguments.append(f"--device={device}")
    if weights is not None:
        arguments += ["--weights", os.fspath(weights)]
    if output is not None:
        arguments += ["--output", os.fspath(output)]
    report = json.loads(call(arguments))
    return RunResult(float(report["loss"]), int(report["tokens_counted"]), report)
