"""`tessera plan` from Python."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Tuple, Union

from . import _units
from ._layouts import CANDIDATE_COLUMNS, Candidate, Detail, Obstacle
from ._question import Choices, PathLike, choices_text, question, understood
from ._shown import Column, Figure, Grid, Line, Part, Picture, Shown
from ._tables import figures, frame
from ._tools import call_json, flags, record

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class Certificate:
    """Why nothing better is left.

    `space` is the number of legal layouts; of `meshes` outer combinations
    `state_cut` were too large for the memory and `expanded` were looked into;
    `memory_cut` and `bound_cut` layouts fell to memory and to a bound on their
    time, `dominated` recompute more than one that fits, `evaluated` were played
    in full. `gap` is 0 when the search is closed,
    else the largest fraction by which the answer can be slower than the best;
    no layout is faster than `lower_bound_seconds`. The search took
    `search_seconds`.
    """

    space: float
    meshes: int
    state_cut: int
    bounded: int
    expanded: int
    memory_cut: int
    bound_cut: int
    evaluated: int
    lower_bound_seconds: float
    gap: float
    search_seconds: float
    dominated: int = 0

    def __str__(self) -> str:
        space = _units.count(self.space)
        if self.gap > 0:
            return f"within {_units.percent(self.gap)} of the best of {space} layouts"
        return f"best of {space} layouts in the modelled space (gap 0)"


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """What if: the plan as it is takes `planned_step_seconds` (None: it no
    longer fits) and `planned_memory_bytes` on the fullest GPU; `best_layout`
    would then be the best, with `best_step_seconds` (None: not searched, or
    nothing fits). `largest_skew_that_fits` is how uneven experts may get where
    the worst routing does not fit."""

    question: str
    same_layout: bool
    planned_step_seconds: Optional[float] = None
    best_layout: Optional[str] = None
    best_step_seconds: Optional[float] = None
    planned_memory_bytes: Optional[float] = None
    largest_skew_that_fits: Optional[float] = None

    def __str__(self) -> str:
        text = f"what if {self.question}: this layout "
        if self.planned_step_seconds is None:
            text += "no longer fits"
        else:
            text += f"takes {_units.duration(self.planned_step_seconds)}"
        if self.same_layout:
            return text + " and stays the best"
        if self.best_layout is None or self.best_step_seconds is None:
            return text
        best = _units.duration(self.best_step_seconds)
        return text + f"; then {self.best_layout} would be best with {best}"


@dataclasses.dataclass(frozen=True)
class ClusterSize:
    """The best layout on so many GPUs (None where nothing fits); `value` is what
    the objective minimises: seconds of a step, or GPU-seconds per token."""

    nodes: int
    gpus: int
    layout: Optional[str] = None
    step_seconds: Optional[float] = None
    value: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class BeyondStack:
    """What would be faster on the meshes of the table if the software could run
    it: the layout, seconds of a step, and what it `needs`."""

    layout: str
    step_seconds: float
    needs: Tuple[Obstacle, ...]

    def __str__(self) -> str:
        needs = ", ".join(obstacle.wanted for obstacle in self.needs)
        step = _units.duration(self.step_seconds)
        return f"beyond the software: {step} with {self.layout}, which needs {needs}"


@dataclasses.dataclass(frozen=True)
class NextStep:
    """A command to go on with, and what it is for."""

    purpose: str
    command: str


@dataclasses.dataclass(frozen=True)
class Plan(Shown):
    """The answer of `plan`: layouts ranked by step time, with the reasons.

    `ranked` has the best layout of each mesh, fastest first; `detail` looks
    closely at the best; `front` (step time against memory) and `sizes` are empty
    unless asked for; `per_trillion_tokens` has "seconds", "gpu_hours" and
    "megawatt_hours" of training with the best. `compile_mesh` is what
    `tessera.compile` takes as its mesh, None where it cannot build the layout
    yet, and `not_compiled` then says why. `stack_limits` are what the software
    cannot run, in words, and `beyond_stack` what would be faster without them
    (None: nothing). `next` has commands to go on with. `expected_error` says how far predictions lay from measured runs ("text").
    `figures` are pictures by name: "timeline", "time", "memory",
    "roofline", "front".
    """

    model: str
    parameters: int
    active_parameters: int
    cluster: str
    gpus: int
    sequence: int
    global_batch: int
    stack: str
    objective: str
    memory_limit_bytes: float
    assumptions: Tuple[str, ...]
    ranked: Tuple[Candidate, ...]
    detail: Detail
    sensitivity: Tuple[Sensitivity, ...]
    certificate: Certificate
    per_trillion_tokens: Mapping[str, float]
    expected_error: Mapping[str, Any]
    front: Tuple[Candidate, ...] = ()
    sizes: Tuple[ClusterSize, ...] = ()
    compile_mesh: Optional[Mapping[str, int]] = None
    precision: str = "bf16"
    not_compiled: Optional[str] = None
    stack_limits: Tuple[str, ...] = ()
    beyond_stack: Optional[BeyondStack] = None
    next: Tuple[NextStep, ...] = ()
    figures: Mapping[str, Figure] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def best(self) -> Candidate:
        """The fastest layout."""
        return self.ranked[0]

    @property
    def runner_up(self) -> Optional[Candidate]:
        """The best layout of another mesh, None where there is none."""
        return self.ranked[1] if len(self.ranked) > 1 else None

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each ranked layout: its choices, step time (s), memory
        (bytes) and what both consist of (needs pandas)."""
        return frame([candidate._row() for candidate in self.ranked])

    def _parts(self) -> Iterator[Part]:
        yield Line(f"{self.model} on {self.cluster}, {self.gpus} GPUs", strong=True)
        yield Line("assumed: " + "; ".join(self.assumptions))
        yield Grid(CANDIDATE_COLUMNS, self.ranked)
        yield Line(f"best: {self.best}")
        yield Line(f"step time: {self.expected_error['text']}")
        yield Picture(self.figures.get("timeline"), "The step on each stage")
        yield Picture(self.figures.get("time"), "Where the time goes")
        yield Picture(self.figures.get("memory"), "Memory of one GPU of each stage")
        yield Picture(self.figures.get("roofline"), "Kernels under the roofline")
        yield Picture(self.figures.get("front"), "Step time against memory")
        if self.sizes:
            yield Grid(SIZE_COLUMNS, self.sizes)
        for what_if in self.sensitivity:
            yield Line(str(what_if))
        if self.beyond_stack:
            yield Line(str(self.beyond_stack))
        yield Line(f"certificate: {self.certificate}")


SIZE_COLUMNS = (
    Column("GPUs", lambda s: str(s.gpus)),
    Column("step", lambda s: _units.duration(s.step_seconds) if s.layout else "does not fit"),
    Column("layout", lambda s: s.layout or "", left=True),
)


def _mesh(text: Optional[str]) -> Optional[Mapping[str, int]]:
    """ "dp=4,tp=2" -> {"dp": 4, "tp": 2}."""
    if not text:
        return None
    pairs = (entry.split("=") for entry in text.split(","))
    return {name: int(size) for name, size in pairs}


def _sensitivity(data: Mapping[str, Any]) -> Sensitivity:
    return Sensitivity(
        data["question"],
        data["same_layout"],
        data.get("planned_step_seconds"),
        data.get("best_layout_text"),
        data.get("best_step_seconds"),
        data.get("planned_memory_bytes"),
        data.get("largest_skew_that_fits"),
    )


def _beyond(data: Optional[Mapping[str, Any]]) -> Optional[BeyondStack]:
    if data is None:
        return None
    needs = tuple(record(Obstacle, need) for need in data["needs"])
    return BeyondStack(data["layout_text"], data["step_seconds"], needs)


def _size(data: Mapping[str, Any]) -> ClusterSize:
    return ClusterSize(
        data["nodes"],
        data["gpus"],
        data.get("layout_text"),
        data.get("step_seconds"),
        data.get("value"),
    )


def plan(
    model: PathLike,
    cluster: PathLike,
    *,
    sequence: Optional[int] = None,
    global_batch: Optional[int] = None,
    precision: Optional[str] = None,
    stack: Optional[str] = None,
    fix: Optional[Choices] = None,
    memory: Union[None, int, str] = None,
    expert_skew: Optional[float] = None,
    objective: Optional[str] = None,
    gpus_free: bool = False,
    price: Union[None, float, str] = None,
    pareto: bool = False,
    sensitivity: bool = True,
    top: Optional[int] = None,
    time_limit: Optional[float] = None,
    report: Optional[PathLike] = None,
) -> Plan:
    """Finds the fastest layout of a training run, and proves it.

    `model` is a folder, a config.json or a shipped name (`models()`), `cluster`
    "CHIP:NODESxGPUS" such as "h100-sxm:16x8" (`clusters()` lists chips) or a
    JSON file. `sequence` is in tokens and `global_batch` in sequences of a step
    (default: about 4M tokens); `precision` is "bf16", "fp16" or "fp8"; `stack`
    the training software. `fix` decides choices beforehand: "tp=8,pp=4" or
    {"tp": 8, "pp": 4}. `memory` limits each GPU (bytes, or "70GiB");
    `expert_skew` is the load of the fullest expert rank over the mean.

    `objective` ("step-time", "tokens-per-gpu", "cost", "energy") matters with
    `gpus_free`, which also tries smaller clusters; `price` is that of a GPU-hour
    (2.5 or "$2.5").
    `pareto` adds the front of time against memory, `top` limits the table,
    `time_limit` the search in seconds. `report` writes the HTML page to a file.

    Raises `TesseraError` with the tool's message.
    """
    data = call_json(
        [
            "plan",
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
                fix=None if fix is None else choices_text(fix),
                objective=objective,
                gpus_free=gpus_free,
                price=price,
                pareto=pareto,
                sensitivity="false" if not sensitivity else None,
                top=top,
                time_limit=time_limit,
                report=None if report is None else os.fspath(report),
                json=True,
                details=True,
            ),
        ]
    )
    return Plan(
        **understood(data),
        parameters=data["parameters"],
        active_parameters=data["active_parameters"],
        stack=data["stack"],
        precision=data["precision"],
        objective=data["objective"],
        ranked=tuple(map(Candidate._read, data["ranked"])),
        detail=Detail._read(data["detail"]),
        sensitivity=tuple(map(_sensitivity, data["sensitivity"])),
        certificate=record(Certificate, data["certificate"]),
        per_trillion_tokens=data["per_trillion_tokens"],
        front=tuple(map(Candidate._read, data.get("front", ()))),
        sizes=tuple(map(_size, data.get("sizes", ()))),
        compile_mesh=_mesh(data.get("compile_mesh")),
        not_compiled=data.get("not_compiled"),
        stack_limits=tuple(data.get("stack_limits", ())),
        beyond_stack=_beyond(data.get("beyond_stack")),
        next=tuple(record(NextStep, step) for step in data["next"]),
        expected_error=data["expected_error"],
        figures=figures(data),
    )
