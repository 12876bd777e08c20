"""`tessera estimate` from Python."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Tuple, Union

from . import _units
from ._layouts import Candidate, layout_text
from ._question import Choices, PathLike
from ._shown import Column, Grid, Part, Shown
from ._tables import frame
from ._tools import call_json, flags, model_argument, record

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class Estimate(Shown):
    """Sizes of a model, and what training it takes.

    FLOPs are of training on one token: 6 N, and counted operation by operation
    with attention over all positions or over the earlier ones only. Model state
    is 16 bytes a parameter (16-bit weights and gradients, 32-bit optimizer),
    activations apart; the cache holds the keys and values of one sequence. What
    depends on a chip, on the shape of the model or on a number of tokens is None
    where that was not given: `min_gpus_*` need a cluster, `mfu` to `energy_mwh`
    training tokens as well, `days` a whole cluster. `ranks` has the memory of one
    GPU of each pipeline stage in bytes by kind, "training" and "serving", under
    the "layout" given, with the chip's "limit".
    """

    model: str
    parameters: float
    active_parameters: float
    flops_per_token_6n: float
    training_state_bytes: float
    weight_bytes: float
    gradient_bytes: float
    optimizer_bytes: float
    sequence: Optional[int] = None
    flops_per_token_counted: Optional[float] = None
    flops_per_token_counted_causal: Optional[float] = None
    cache_bytes_per_sequence: Optional[float] = None
    inference_bytes: Optional[float] = None
    weight_format: Optional[str] = None
    cache_format: Optional[str] = None
    inference_weight_bytes: Optional[float] = None
    chip: Optional[str] = None
    min_gpus_training: Optional[int] = None
    min_gpus_inference: Optional[int] = None
    inference_bytes_per_gpu: Optional[float] = None
    inference_kept_free_bytes: Optional[float] = None
    training_flops: Optional[float] = None
    mfu: Optional[float] = None
    gpu_hours: Optional[float] = None
    tokens_per_second_per_gpu: Optional[float] = None
    days: Optional[float] = None
    energy_mwh: Optional[float] = None
    ranks: Optional[Mapping[str, Any]] = None

    def _lines(self) -> Iterator[Tuple[str, str]]:
        for name, text in _TEXTS:
            value: Any = getattr(self, name)
            if value is not None and not (
                name == "active_parameters" and value == self.parameters
            ):
                yield name.replace("_", " "), text(value)

    def _parts(self) -> Iterator[Part]:
        yield Grid(_columns(self.model), tuple(self._lines()))

    def to_frame(self) -> "pandas.DataFrame":
        """One row (needs pandas)."""
        row = dataclasses.asdict(self)
        del row["ranks"]
        return frame([row])


def _columns(model: str) -> Tuple[Column, Column]:
    return (
        Column(model, lambda line: str(line[0]), left=True),
        Column("", lambda line: str(line[1])),
    )


def _gigabytes(value: float) -> str:
    return f"{value / 1e9:.1f} GB"


_TEXTS = (
    ("parameters", _units.count),
    ("active_parameters", _units.count),
    ("flops_per_token_6n", _units.count),
    ("flops_per_token_counted", _units.count),
    ("flops_per_token_counted_causal", _units.count),
    ("training_state_bytes", _gigabytes),
    ("weight_bytes", _gigabytes),
    ("gradient_bytes", _gigabytes),
    ("optimizer_bytes", _gigabytes),
    ("weight_format", str),
    ("inference_weight_bytes", _gigabytes),
    ("cache_format", str),
    ("cache_bytes_per_sequence", _gigabytes),
    ("inference_bytes", _gigabytes),
    ("min_gpus_training", str),
    ("min_gpus_inference", str),
    ("training_flops", lambda v: f"{v:.3g}"),
    ("mfu", _units.percent),
    ("tokens_per_second_per_gpu", lambda v: f"{v:.0f}"),
    ("gpu_hours", lambda v: f"{v:.0f}"),
    ("days", lambda v: f"{v:.1f}"),
    ("energy_mwh", lambda v: f"{v:.0f}"),
)


def estimate(
    model: PathLike,
    cluster: Optional[PathLike] = None,
    *,
    sequence: Optional[int] = None,
    cache_batch: Optional[int] = None,
    weights: Optional[str] = None,
    kv_cache: Optional[str] = None,
    tokens: Union[None, float, str] = None,
    mfu: Optional[float] = None,
    gpu_hours: Union[None, float, str] = None,
    tokens_per_second: Optional[float] = None,
    layout: Union[None, Choices, Candidate] = None,
    global_batch: Optional[int] = None,
    stack: Optional[str] = None,
) -> Estimate:
    """Parameters, FLOPs, memory, key-value cache; with a cluster and training
    tokens also GPU-hours, days and energy.

    `model` is a folder, a config.json, a shipped name or a parameter count
    ("6.7B"); `cluster` a chip ("a100-80g-sxm") or a cluster ("h100-sxm:16x8").
    `cache_batch` sequences of `sequence` tokens are served at once, with
    `weights` ("fp8", "int4", ...; else the checkpoint's) and a `kv_cache` ("fp8")
    in those formats. `tokens` is a number or "1.4T"; of `mfu` (a fraction), `gpu_hours` and
    `tokens_per_second` (of one GPU) at most one is given, the others follow. A
    `layout` ("tp=8 pp=4 mb=1 sp" or a plan's candidate) on a whole cluster adds
    the memory of every stage; `global_batch` and `stack` are for it, as in `plan`.

    Raises `TesseraError` with the tool's message.
    """
    data = call_json(
        [
            "estimate",
            model_argument(model),
            *flags(
                cluster=None if cluster is None else os.fspath(cluster),
                sequence=sequence,
                cache_batch=cache_batch,
                weights=weights,
                kv_cache=kv_cache,
                tokens=tokens,
                mfu=mfu,
                gpu_hours=gpu_hours,
                tokens_per_second=tokens_per_second,
                layout=None if layout is None else layout_text(layout),
                global_batch=global_batch,
                stack=stack,
                json=True,
            ),
        ]
    )
    return record(Estimate, data)
