"""Results that are tables, and data frames of them."""

from __future__ import annotations

import dataclasses
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

from ._shown import Column, Figure, Grid, Part, Shown

if TYPE_CHECKING:
    import pandas


Record = TypeVar("Record")


def frame(rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Rows as a pandas data frame; without pandas an ImportError that says how
    to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "data frames need pandas, which is not installed: pip install pandas"
        ) from error
    return pandas.DataFrame(list(rows))


def figures(data: Mapping[str, Any]) -> Mapping[str, Figure]:
    """The figures that a tool's JSON carries, by name."""
    return {name: Figure(svg) for name, svg in data.get("figures", {}).items()}


@dataclasses.dataclass(frozen=True)
class Table(Shown, Generic[Record]):
    """A sequence of records that prints as a table.

    `str(table)` is aligned text, a notebook shows HTML, and `to_frame()` gives
    a pandas data frame with one row for each record and its fields as columns.
    """

    records: Tuple[Record, ...]
    columns: Tuple[Column, ...] = dataclasses.field(repr=False)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __getitem__(self, index: int) -> Record:
        return self.records[index]

    def _parts(self) -> Iterable[Part]:
        return [Grid(self.columns, self.records)]

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each record (needs pandas)."""
        return frame([dataclasses.asdict(record) for record in self.records])  # type: ignore[call-overload]


def optional(value: Optional[float], text: Callable[[float], str]) -> str:
    """Text of a number that may be missing."""
    return "" if value is None else text(value)
