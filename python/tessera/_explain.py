"""`tessera explain` from Python."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Tuple, Union

from . import _units
from ._layouts import CANDIDATE_COLUMNS, Candidate, Detail, Obstacle, layout_text
from ._question import Choices, PathLike, question, understood
from ._shown import Column, Figure, Grid, Line, Part, Picture, Shown
from ._tables import figures, frame
from ._tools import call_with_notes, flags, record

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class Change:
    """What one choice would bring, the others kept: the best layout that
    differs in `choice` and what that forces, with its step time in seconds;
    `fields` says how the layouts differ."""

    choice: str
    layout: str
    step_seconds: float
    fields: str = ""


@dataclasses.dataclass(frozen=True)
class Explanation(Shown):
    """A layout of one's own beside the best.

    `fits` says whether the own layout fits the memory limit (bytes a GPU);
    `stack_cannot_run` are the choices of the own layout that the software does
    not have; `best` is None where no layout fits; `loss` is the share of the step's time
    that the own layout takes longer than the best (0.18: 18 % slower; below 0
    where it is faster than the best that the software can run or that fits).
    `verdict` says that in sentences. `expected_error` says how far predictions
    lay from measured runs ("text"). `changes` are single choices that would help, best first. `notes` are what the reading
    of a framework's file had to say. `figures` are pictures by name: "time",
    "timeline", "memory", "roofline" of the own layout, "best_timeline" and
    "best_memory".
    """

    model: str
    cluster: str
    gpus: int
    sequence: int
    global_batch: int
    memory_limit_bytes: float
    assumptions: Tuple[str, ...]
    own: Candidate
    own_detail: Detail
    fits: bool
    stack_cannot_run: Tuple[Obstacle, ...]
    verdict: Tuple[str, ...]
    expected_error: Mapping[str, Any]
    best: Optional[Candidate]
    best_detail: Optional[Detail]
    loss: Optional[float]
    changes: Tuple[Change, ...]
    notes: Tuple[str, ...] = ()
    figures: Mapping[str, Figure] = dataclasses.field(default_factory=dict, repr=False)

    def to_frame(self) -> "pandas.DataFrame":
        """Two rows, "own" and "best" (needs pandas)."""
        rows = [{"which": "own", **self.own._row()}]
        if self.best is not None:
            rows.append({"which": "best", **self.best._row()})
        return frame(rows)

    def _rows(self) -> Tuple[Tuple[str, Candidate], ...]:
        rows: Tuple[Tuple[str, Candidate], ...] = (("yours", self.own),)
        return rows if self.best is None else (*rows, ("best", self.best))

    def _change(self, change: Change) -> str:
        gain = f"fits, with {_units.duration(change.step_seconds)} a step"
        if self.fits:
            gain = f"{_units.percent(self.own.step_seconds / change.step_seconds - 1)} faster"
        return f"changing {change.choice} alone ({change.fields}): {gain}: {change.layout}"

    def _parts(self) -> Iterator[Part]:
        yield Line(f"{self.model} on {self.cluster}, {self.gpus} GPUs", strong=True)
        yield Grid(_COLUMNS, self._rows())
        yield Line(f"step time: {self.expected_error['text']}")
        for sentence in self.verdict:
            yield Line(sentence)
        for change in self.changes:
            yield Line(self._change(change))
        yield Picture(self.figures.get("time"), "Where the time goes")
        yield Picture(self.figures.get("timeline"), "Your step on each stage")
        yield Picture(self.figures.get("best_timeline"), "The best step on each stage")
        yield Picture(self.figures.get("memory"), "Your memory on each stage")
        yield Picture(self.figures.get("best_memory"), "The best layout's memory")
        yield Picture(self.figures.get("roofline"), "Your kernels under the roofline")


def _named(column: Column) -> Column:
    return Column(column.name, lambda row: column.text(row[1]), column.left)


_COLUMNS = (Column("", lambda row: str(row[0]), left=True), *map(_named, CANDIDATE_COLUMNS))


def explain(
    model: PathLike,
    cluster: PathLike,
    layout: Union[None, Choices, Candidate] = None,
    *,
    from_file: Optional[PathLike] = None,
    sequence: Optional[int] = None,
    global_batch: Optional[int] = None,
    precision: Optional[str] = None,
    stack: Optional[str] = None,
    memory: Union[None, int, str] = None,
    expert_skew: Optional[float] = None,
    report: Optional[PathLike] = None,
) -> Explanation:
    """Compares a layout with the best, and says what it loses on.

    `layout` is "tp=8 pp=4 mb=1 sp" (dp may be left out) or a `Candidate` of a
    plan; instead of it `from_file` names the file of a training framework
    (Megatron-LM arguments, a TorchTitan TOML, a DeepSpeed JSON, ...), which also
    gives sequence and batch where they are not said. The rest as in `plan`.

    Raises `TesseraError` with the tool's message.
    """
    arguments = [
        "explain",
        *question(
            model,
            cluster,
            sequence=sequence,
            global_batch=global_batch,
            precision=precision,
            stack=stack,
            memory=memory,
            expert_skew=expert_skew,
        ),
        *flags(
            layout=None if layout is None else layout_text(layout),
            report=None if report is None else os.fspath(report),
            json=True,
            details=True,
        ),
    ]
    if from_file is not None:
        arguments += ["--from", os.fspath(from_file)]
    output, notes = call_with_notes(arguments)
    data = json.loads(output)
    best: Optional[Mapping[str, Any]] = data.get("best")
    return Explanation(
        **understood(data),
        own=Candidate._read(data["own"]),
        own_detail=Detail._read(data["own"]["detail"]),
        fits=data["fits"],
        stack_cannot_run=tuple(record(Obstacle, item) for item in data["stack_cannot_run"]),
        verdict=tuple(data["verdict"]),
        expected_error=data["expected_error"],
        best=None if best is None else Candidate._read(best),
        best_detail=None if best is None else Detail._read(best["detail"]),
        loss=data.get("loss"),
        changes=tuple(
            Change(
                change["choice"], change["layout_text"], change["step_seconds"], change["fields"]
            )
            for change in data["changes"]
        ),
        notes=notes,
        figures=figures(data),
    )
