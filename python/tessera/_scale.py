"""`tessera scale` from Python."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Iterator, Mapping, Optional, Tuple, Union

from . import _units
from ._shown import Column, Figure, Grid, Line, Part, Picture, Shown
from ._tables import figures, frame, optional
from ._tools import call_json, flags, record

if TYPE_CHECKING:
    import pandas

Number = Union[None, float, str]


@dataclasses.dataclass(frozen=True)
class Recommendation:
    """One law's answer to a budget: parameters and training tokens, the loss
    that the law's own fit predicts (nats per token, None where the paper has no
    fit), FLOPs of training (6 N D) and with inference (2 N a token)."""

    law: str
    source: str
    parameters: float
    tokens: float
    training_flops: float
    lifetime_flops: float
    loss: Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Scaling(Shown):
    """What published scaling laws recommend for a budget of `flops`, serving
    `inference_tokens`. Losses compare within a law only: each is fitted to its
    own data."""

    flops: float
    inference_tokens: float
    recommendations: Tuple[Recommendation, ...]
    figures: Mapping[str, Figure] = dataclasses.field(default_factory=dict, repr=False)

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each law (needs pandas)."""
        return frame([dataclasses.asdict(row) for row in self.recommendations])

    def _parts(self) -> Iterator[Part]:
        yield Line(f"compute budget: {self.flops:.3g} FLOPs", strong=True)
        yield Grid(_COLUMNS, self.recommendations)
        yield Picture(self.figures.get("loss"), "Predicted loss by model size")


_COLUMNS = (
    Column("law", lambda r: str(r.law), left=True),
    Column("parameters", lambda r: _units.count(r.parameters)),
    Column("tokens", lambda r: _units.count(r.tokens)),
    Column("tokens/param", lambda r: f"{r.tokens / r.parameters:.1f}"),
    Column("loss", lambda r: optional(r.loss, lambda loss: f"{loss:.3f}")),
    Column("source", lambda r: str(r.source), left=True),
)


def scale(
    *,
    flops: Number = None,
    gpu_hours: Number = None,
    chip: Optional[str] = None,
    peak: Number = None,
    mfu: Optional[float] = None,
    params: Number = None,
    tokens: Number = None,
    inference_tokens: Number = None,
    tokens_per_param: Optional[float] = None,
) -> Scaling:
    """Model and token sizes for a compute budget, by published laws.

    The budget is `flops`, or `gpu_hours` of a `chip` ("h100-sxm") or of GPUs with
    `peak` FLOP/s, at a utilisation of `mfu` (0.4), or follows from `params` and `tokens`; one of the latter two alone
    fixes that side. Counts are numbers or texts such as "70B". `inference_tokens`
    adds the optimum over the model's lifetime, `tokens_per_param` (20) is for
    the rule of that name.

    Raises `TesseraError` with the tool's message.
    """
    data = call_json(
        [
            "scale",
            *flags(
                flops=flops,
                gpu_hours=gpu_hours,
                chip=chip,
                peak=peak,
                mfu=mfu,
                params=params,
                tokens=tokens,
                inference_tokens=inference_tokens,
                tokens_per_param=tokens_per_param,
                json=True,
                details=True,
            ),
        ]
    )
    rows = tuple(record(Recommendation, row) for row in data["recommendations"])
    return Scaling(data["flops"], data["inference_tokens"], rows, figures(data))
