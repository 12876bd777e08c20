"""`tessera validate` from Python."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Tuple

from . import _units
from ._question import PathLike
from ._shown import Column, Figure, Grid, Line, Part, Picture, Shown
from ._tables import figures, frame
from ._tools import call_json, flags, record

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class ErrorSummary:
    """Errors of predictions as fractions: the median and 90th percentile of the
    absolute error, every source weighing the same, and the median of the signed
    one (`bias`)."""

    runs: int
    median: float
    p90: float
    bias: float

    def __str__(self) -> str:
        return (
            f"{self.runs} runs: median {_units.percent(self.median)},"
            f" 90th percentile {_units.percent(self.p90)}, bias {_units.percent(self.bias)}"
        )


@dataclasses.dataclass(frozen=True)
class MeasuredRun:
    """A published run and its prediction: step times in seconds, memory in
    bytes; what the source does not report is None. `breakdown` divides the
    predicted step."""

    run: str
    source: str
    model: str
    chip: str
    stack: str
    layout: str
    complete: bool
    predicted: float
    breakdown: Mapping[str, Any]
    measured: Optional[float] = None
    measured_memory: Optional[float] = None
    predicted_memory: Optional[float] = None

    @property
    def error(self) -> Optional[float]:
        """(predicted - measured) / measured; None without a measurement."""
        return None if self.measured is None else self.predicted / self.measured - 1


@dataclasses.dataclass(frozen=True)
class Validation(Shown):
    """Predictions against published measurements.

    `step_time` and `memory` sum up all complete runs (memory is None where none
    was measured); `by_source`, `by_chip`, `by_stack`, `by_axis` and `by_metric`
    divide the step time's error. `rank_correlation` and `regret` are means over
    the published sweeps of layouts (None without one): does the model rank them
    as the measurement does, and how much slower is its favourite. `skipped` has
    (run, reason) of what could not be predicted.
    """

    step_time: ErrorSummary
    memory: Optional[ErrorSummary]
    by_source: Mapping[str, ErrorSummary]
    by_chip: Mapping[str, ErrorSummary]
    by_stack: Mapping[str, ErrorSummary]
    by_axis: Mapping[str, ErrorSummary]
    by_metric: Mapping[str, ErrorSummary]
    rank_correlation: Optional[float]
    regret: Optional[float]
    runs: Tuple[MeasuredRun, ...]
    skipped: Tuple[Tuple[str, str], ...]
    figures: Mapping[str, Figure] = dataclasses.field(default_factory=dict, repr=False)

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each run, with its error (needs pandas)."""
        rows = []
        for run in self.runs:
            row = dataclasses.asdict(run)
            del row["breakdown"]
            rows.append({**row, "error": run.error})
        return frame(rows)

    def _parts(self) -> Iterator[Part]:
        yield Line(f"step time, {self.step_time}", strong=True)
        if self.memory:
            yield Line(f"peak memory, {self.memory}")
        if self.rank_correlation is not None and self.regret is not None:
            yield Line(
                f"sweeps of layouts: rank correlation {self.rank_correlation:.3f},"
                f" regret {_units.percent(self.regret)}"
            )
        yield Grid(_COLUMNS, self.by_source.items())
        yield Picture(
            self.figures.get("scatter"),
            "Predicted and measured step times; the dashed lines are 10 % off",
        )


_COLUMNS = (
    Column("source", lambda row: str(row[0]), left=True),
    Column("runs", lambda row: str(row[1].runs)),
    Column("median", lambda row: _units.percent(row[1].median)),
    Column("p90", lambda row: _units.percent(row[1].p90)),
    Column("bias", lambda row: _units.percent(row[1].bias)),
)


def validate(
    points: PathLike, *, source: Optional[str] = None, constants: Optional[PathLike] = None
) -> Validation:
    """Holds the cost model against published measurements.

    `points` is a CSV in the form of test/Data/published/points.csv, `source`
    keeps only sources whose name has it, `constants` is a file of fitted
    constants to try. Raises `TesseraError` with the tool's message.
    """
    data = call_json(
        [
            "validate",
            os.fspath(points),
            *flags(
                source=source,
                constants=None if constants is None else os.fspath(constants),
                json=True,
                details=True,
            ),
        ]
    )
    sweeps = data.get("sweep_mean", {})
    groups = {
        name: {key: record(ErrorSummary, value) for key, value in data[name].items()}
        for name in ("by_source", "by_chip", "by_stack", "by_axis", "by_metric")
    }
    return Validation(
        step_time=record(ErrorSummary, data["step_time"]),
        memory=record(ErrorSummary, data["memory"]) if "memory" in data else None,
        by_source=groups["by_source"],
        by_chip=groups["by_chip"],
        by_stack=groups["by_stack"],
        by_axis=groups["by_axis"],
        by_metric=groups["by_metric"],
        rank_correlation=sweeps.get("spearman"),
        regret=sweeps.get("regret"),
        runs=tuple(record(MeasuredRun, run) for run in data["runs"]),
        skipped=tuple((item["run"], item["reason"]) for item in data["skipped"]),
        figures=figures(data),
    )
