"""What ships with Tessera: models and chips."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping

from . import _units
from ._shown import Column
from ._tables import Table
from ._tools import call_json, record


@dataclasses.dataclass(frozen=True)
class Model:
    """A shipped model config; `name` is what `plan` and the others take. Active
    parameters are those that one token uses, `positions` the longest sequence
    (0: any)."""

    name: str
    architecture: str
    parameters: int
    active_parameters: int
    layers: int
    hidden: int
    heads: int
    vocab: int
    positions: int


@dataclasses.dataclass(frozen=True)
class Chip:
    """A GPU as its data sheet has it, with the usual server around it: dense
    TFLOP/s (0: no such mode), GiB, 10^9 bytes per second in one direction,
    watts. `nvlink_domain` GPUs reach each other over NVLink (`nvlink_gbps` 0:
    there is none); `data` has every number that the tool knows of it."""

    name: str
    architecture: str
    bf16_tflops: float
    fp8_tflops: float
    fp4_tflops: float
    memory_gib: float
    memory_bandwidth_gbps: float
    sms: int
    nvlink_gbps: float
    nvlink_domain: int
    gpus_per_node: int
    nics_per_node: int
    nic_gbps: float
    power_watts: float
    data: Mapping[str, Any] = dataclasses.field(repr=False, compare=False)

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> "Chip":
        values: Dict[str, Any] = {
            field.name: data.get(field.name, 0) for field in dataclasses.fields(cls)
        }
        values["data"] = data
        return cls(**values)


def models() -> Table[Model]:
    """The model configs that ship with Tessera, as a table of `Model`."""
    return Table(
        tuple(record(Model, model) for model in call_json(["models", "--json"])),
        (
            Column("model", lambda m: str(m.name), left=True),
            Column("architecture", lambda m: str(m.architecture), left=True),
            Column("parameters", lambda m: _units.count(m.parameters)),
            Column("active", lambda m: _units.count(m.active_parameters)),
            Column("layers", lambda m: str(m.layers)),
            Column("hidden", lambda m: str(m.hidden)),
            Column("positions", lambda m: str(m.positions)),
        ),
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value else ""


def clusters() -> Table[Chip]:
    """The chips that clusters are made of, as a table of `Chip`; a cluster is
    "CHIP:NODESxGPUS", like "h100-sxm:16x8"."""
    return Table(
        tuple(map(Chip._read, call_json(["clusters", "--json"]))),
        (
            Column("chip", lambda c: str(c.name), left=True),
            Column("BF16 TFLOP/s", lambda c: _number(c.bf16_tflops)),
            Column("FP8", lambda c: _number(c.fp8_tflops)),
            Column("FP4", lambda c: _number(c.fp4_tflops)),
            Column("GiB", lambda c: _number(c.memory_gib)),
            Column("GB/s", lambda c: _number(c.memory_bandwidth_gbps)),
            Column("NVLink GB/s", lambda c: _number(c.nvlink_gbps)),
            Column("W", lambda c: _number(c.power_watts)),
        ),
    )
