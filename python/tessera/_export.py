"""`tessera export` from Python."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Optional, Tuple, Union

from ._layouts import Candidate, layout_text
from ._plan import Plan
from ._question import Choices, PathLike
from ._tools import call_json, flags


@dataclasses.dataclass(frozen=True)
class ExportedLayout:
    """A layout as the file of a training framework.

    `text` is the file, `file_name` what it is usually called, and
    `not_expressed` says, a sentence each, what of the layout the framework's
    file cannot say.
    """

    framework: str
    title: str
    file_name: str
    text: str
    not_expressed: Tuple[str, ...]

    def __str__(self) -> str:
        return self.text

    def save(self, path: Optional[PathLike] = None) -> pathlib.Path:
        """Writes the file (to `file_name` in this folder by default)."""
        target = pathlib.Path(self.file_name if path is None else path)
        target.write_text(self.text, encoding="utf-8")
        return target


def export(
    layout: Union[Choices, Candidate, Plan],
    to: str,
    *,
    model: Optional[PathLike] = None,
    global_batch: Optional[int] = None,
    sequence: Optional[int] = None,
    gpus_per_node: Optional[int] = None,
    precision: Optional[str] = None,
    stack: Optional[str] = None,
) -> ExportedLayout:
    """Writes a layout in the words of a training framework.

    `layout` is a text ("dp=8 tp=8 pp=4 mb=1 sp"), a `Candidate`, or a whole
    `Plan`, which then also gives batch, sequence, precision and stack. `to` is
    "megatron", "megatron-bridge", "nemo", "torchtitan", "deepspeed", "nanotron"
    or "accelerate". `model` (as in `plan`) tells the number of layers, which
    uneven stages need, and its sizes where the file states them. `precision` is
    "bf16", "fp16" or "fp8", `stack` what the layout was planned for.

    Raises `TesseraError` with the tool's message.
    """
    if isinstance(layout, Plan):
        global_batch = layout.global_batch if global_batch is None else global_batch
        sequence = layout.sequence if sequence is None else sequence
        precision = precision or layout.precision
        stack = stack or layout.stack
        layout = layout.best
    data = call_json(
        [
            "export",
            *flags(
                layout=layout_text(layout),
                to=to,
                model=None if model is None else os.fspath(model),
                global_batch=global_batch,
                seq=sequence,
                gpus_per_node=gpus_per_node,
                precision=precision,
                stack=stack,
                json=True,
            ),
        ]
    )
    return ExportedLayout(
        data["framework"],
        data["title"],
        data["file_name"],
        data["text"],
        tuple(data["not_expressed"]),
    )
