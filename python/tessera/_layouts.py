"""Layouts and what the models say of them: shared by plan and explain."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

from . import _units
from ._question import Choices, choices_text
from ._shown import Column
from ._tables import frame
from ._tools import record

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class Segment:
    """A stretch of one stage's time, in seconds from the begin of the step.

    `kind` is "forward", "recompute", "backward", "weight" (weight gradients on
    their own), "exposed" (communication that nothing hides), "send",
    "gradients" (their reduction) or "optimizer"; `chunk` and `microbatch` are
    -1 for the last two.
    """

    stage: int
    chunk: int
    microbatch: int
    kind: str
    start: float
    end: float


@dataclasses.dataclass(frozen=True)
class Timeline:
    """One step on every pipeline stage, as the cost model plays it.

    `seconds` is the whole step. Of a long step the middle of the steady state
    is left out: `cut` is then (from, to) in seconds, and `cut_passes` how many
    passes lie inside.
    """

    stages: int
    virtual_stages: int
    microbatches: int
    schedule: str
    seconds: float
    segments: Tuple[Segment, ...]
    cut: Optional[Tuple[float, float]] = None
    cut_passes: int = 0

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each segment (needs pandas)."""
        return frame([dataclasses.asdict(segment) for segment in self.segments])

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> "Timeline":
        columns = data["segments"]
        names = [field.name for field in dataclasses.fields(Segment)]
        segments = tuple(Segment(*row) for row in zip(*(columns[name] for name in names)))
        cut = data.get("cut")
        return cls(
            data["stages"],
            data["virtual_stages"],
            data["microbatches"],
            data["schedule"],
            data["seconds"],
            segments,
            (cut["from"], cut["to"]) if cut else None,
            cut["passes"] if cut else 0,
        )


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One kind of kernel on the shapes of one GPU, in one direction.

    `flops`, `bytes` and `seconds` are of one call, `intensity` is FLOP per byte
    of memory traffic, `flops_per_second` the predicted rate, `calls` how often
    one microbatch calls it on its way through all stages, `share` its part of
    the time of all kernels.
    """

    block: str
    kernel: str
    name: str
    direction: str
    dtype: str
    flops: float
    bytes: float
    seconds: float
    intensity: float
    flops_per_second: float
    calls: int
    share: float


@dataclasses.dataclass(frozen=True)
class Detail:
    """A layout looked at closely.

    `memory_by_stage` has the bytes of one GPU of each stage by kind, with their
    "total"; `kernels` come with the most time first; `memory_bandwidth` is in
    bytes per second and `peaks` in FLOP/s by number format, as the data sheet
    has them. `timeline` is None where it was not asked for.
    """

    memory_by_stage: Tuple[Mapping[str, float], ...]
    kernels: Tuple[Kernel, ...]
    memory_bandwidth: float
    peaks: Mapping[str, float]
    timeline: Optional[Timeline] = None

    def memory_frame(self) -> "pandas.DataFrame":
        """One row for each stage, bytes by kind (needs pandas)."""
        return frame(self.memory_by_stage)

    def kernel_frame(self) -> "pandas.DataFrame":
        """One row for each kernel (needs pandas)."""
        return frame([dataclasses.asdict(kernel) for kernel in self.kernels])

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> "Detail":
        roofline = data["roofline"]
        return cls(
            tuple(data["memory_by_stage"]),
            tuple(record(Kernel, kernel) for kernel in roofline["kernels"]),
            roofline["memory_bandwidth"],
            roofline["peaks"],
            Timeline._read(data["timeline"]) if "timeline" in data else None,
        )


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A layout with its prediction.

    `layout` is its text ("dp=8 tp=4 ..."), `choices` the same field by field;
    `step_seconds` is one optimizer step; `mfu` is model FLOPs over the peak of
    all GPUs with attention over all positions (PaLM, arXiv 2204.02311, appendix
    B), `mfu_causal` with attention as it is masked, `mfu_6n` without. `time` divides the step (seconds: compute,
    recomputation, communication by axis, pipeline bubble, ...) and `memory` the
    peak of the fullest GPU (bytes by kind), which is on stage `fullest_stage`;
    `memory_kept_free_bytes` is what a plan leaves free beside it.
    """

    layout: str
    choices: Mapping[str, Union[int, bool, str]]
    step_seconds: float
    tokens_per_second: float
    tokens_per_second_per_gpu: float
    mfu: float
    time: Mapping[str, float]
    memory_bytes: float
    memory: Mapping[str, float]
    fullest_stage: int
    mfu_causal: float
    mfu_6n: float
    memory_kept_free_bytes: float

    def __str__(self) -> str:
        return (
            f"{self.layout}: {_units.duration(self.step_seconds)} a step,"
            f" {self.tokens_per_second_per_gpu:.0f} tokens/s/GPU,"
            f" MFU {_units.percent(self.mfu)}, {_units.gib(self.memory_bytes)}"
        )

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> "Candidate":
        return cls(
            data["layout_text"],
            data["layout"],
            data["step_seconds"],
            data["tokens_per_second"],
            data["tokens_per_second_per_gpu"],
            data["mfu"],
            data["time"],
            data["memory_bytes"],
            data["memory"],
            data["fullest_stage"],
            data["mfu_causal"],
            data["mfu_6n"],
            data["memory_kept_free_bytes"],
        )

    def _row(self) -> Mapping[str, Any]:
        """Flat, for a data frame: the choices, then the numbers."""
        row: Dict[str, Any] = {
            key: value for key, value in self.choices.items() if key != "chunk_layers"
        }
        row.update(
            layout=self.layout,
            step_seconds=self.step_seconds,
            tokens_per_second=self.tokens_per_second,
            tokens_per_second_per_gpu=self.tokens_per_second_per_gpu,
            mfu=self.mfu,
            mfu_causal=self.mfu_causal,
            mfu_6n=self.mfu_6n,
            memory_bytes=self.memory_bytes,
        )
        row.update({f"time_{name}": seconds for name, seconds in self.time.items()})
        row.update({f"memory_{name}": size for name, size in self.memory.items()})
        return row


@dataclasses.dataclass(frozen=True)
class Obstacle:
    """A choice that the software does not have: the layout's `field`, what it
    `wanted` ("zero=3 with pp=4"), the `reason`, and the `nearest` that it has."""

    field: str
    wanted: str
    reason: str
    nearest: str


def layout_text(layout: Union[Choices, Candidate]) -> str:
    """A layout as one word of a command line."""
    return choices_text(layout.layout if isinstance(layout, Candidate) else layout)


CANDIDATE_COLUMNS = (
    Column("layout", lambda c: str(c.layout), left=True),
    Column("step", lambda c: _units.duration(c.step_seconds)),
    Column("tokens/s/GPU", lambda c: f"{c.tokens_per_second_per_gpu:.0f}"),
    Column("MFU", lambda c: _units.percent(c.mfu)),
    Column("GiB/GPU", lambda c: f"{c.memory_bytes / _units.GIB:.1f}"),
)
