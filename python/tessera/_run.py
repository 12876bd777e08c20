"""`tessera run` from Python."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Mapping, Optional

from ._compile import PathLike
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
    tokens: PathLike,
    ranks: int = 1,
    device: Optional[str] = None,
    weights: Optional[PathLike] = None,
    output: Optional[PathLike] = None,
) -> RunResult:
    """Runs an executable on `ranks` ranks of this machine.

    `tokens` is a file of batch x sequence token ids, `device` "auto", "virtual"
    or "cuda", `weights` the checkpoint folder if it is not where it was at compile
    time, `output` a file for the per-token negative log-likelihoods. Raises
    `TesseraError`.
    """
    arguments = ["run", "-n", str(ranks), os.fspath(executable), "--tokens", os.fspath(tokens), "--json"]
    if device:
        arguments.append(f"--device={device}")
    if weights is not None:
        arguments += ["--weights", os.fspath(weights)]
    if output is not None:
        arguments += ["--output", os.fspath(output)]
    report = json.loads(call(arguments))
    return RunResult(float(report["loss"]), int(report["tokens_counted"]), report)
