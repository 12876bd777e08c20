"""What `plan` and `explain` both ask: model, cluster, workload."""

from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Union

from ._tools import flags, model_argument

PathLike = Union[str, "os.PathLike[str]"]
Choices = Union[str, Mapping[str, Union[int, bool, str]]]


def question(
    model: PathLike,
    cluster: PathLike,
    *,
    sequence: Optional[int],
    global_batch: Optional[int],
    precision: Optional[str],
    stack: Optional[str],
    memory: Union[None, int, str],
    expert_skew: Optional[float],
) -> List[str]:
    """The arguments of the command line that plan and explain share."""
    for name, number in (
        ("sequence", sequence),
        ("global_batch", global_batch),
        ("memory", memory),
        ("expert_skew", expert_skew),
    ):
        if isinstance(number, bool):
            raise TypeError(f"{name} must be a number, got {number}")
    return [
        model_argument(model),
        *flags(
            cluster=os.fspath(cluster),
            sequence=sequence,
            global_batch=global_batch,
            precision=precision,
            stack=stack,
            memory=memory,
            expert_skew=expert_skew,
        ),
    ]


def understood(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The question as the tool understood it: the fields that a plan and an
    explanation share."""
    names = ("model", "cluster", "gpus", "sequence", "global_batch", "memory_limit_bytes")
    return {**{name: data[name] for name in names}, "assumptions": tuple(data["assumptions"])}


def choices_text(choices: Choices) -> str:
    """{"tp": 8, "sp": True} -> "tp=8,sp"; texts stay as they are."""
    if isinstance(choices, str):
        return ",".join(choices.replace(",", " ").split())
    if not isinstance(choices, Mapping):
        raise TypeError(
            f'choices must be a text like "tp=8,sp" or a dict, got {type(choices).__name__}'
        )
    entries = []
    for name, value in choices.items():
        if value is True:
            entries.append(name)
        elif value is False:
            entries.append(f"{name}=0")
        else:
            entries.append(f"{name}={value}")
    return ",".join(entries)
