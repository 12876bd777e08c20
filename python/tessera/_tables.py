"""Results that are tables: for a terminal, a notebook and a data frame."""

from __future__ import annotations

import dataclasses
import html
import pathlib
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

if TYPE_CHECKING:
    import os

    import pandas


Record = TypeVar("Record")


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a printed table: its heading, and the text of a cell."""

    name: str
    text: Callable[[Any], str]
    left: bool = False


def text_table(columns: Sequence[Column], items: Iterable[Any]) -> str:
    """Aligned columns, two blanks between them, a rule below the headings."""
    rows = [[column.text(item) for column in columns] for item in items]
    widths = [
        max([len(column.name), *(len(row[i]) for row in rows)]) for i, column in enumerate(columns)
    ]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if column.left else cell.rjust(width)
            for cell, width, column in zip(cells, widths, columns)
        ]
        return "  ".join(parts).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([line([c.name for c in columns]), rule, *map(line, rows)])


def html_table(columns: Sequence[Column], items: Iterable[Any]) -> str:
    """The same as HTML, every text escaped."""

    def cell(tag: str, column: Column, text: str) -> str:
        align = "left" if column.left else "right"
        return f'<{tag} style="text-align:{align};white-space:nowrap">{html.escape(text)}</{tag}>'

    head = "".join(cell("th", column, column.name) for column in columns)
    body = "".join(
        "<tr>" + "".join(cell("td", column, column.text(item)) for column in columns) + "</tr>"
        for item in items
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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


class Figure(str):
    """A picture as one `<svg>` element, in the colours of the page around it. A
    notebook shows it; `save` writes it."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: Union[str, "os.PathLike[str]"], background: str = "#fff") -> None:
        """Writes an SVG file with dark lines on `background`, a CSS colour."""
        style = f'<svg style="background:{html.escape(background)};color:#222" '
        pathlib.Path(path).write_text(self.replace("<svg ", style, 1), encoding="utf-8")


def figures(data: Mapping[str, Any]) -> Mapping[str, Figure]:
    """The figures that a tool's JSON carries, by name."""
    return {name: Figure(svg) for name, svg in data.get("figures", {}).items()}


@dataclasses.dataclass(frozen=True)
class Table(Generic[Record]):
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

    def __str__(self) -> str:
        return text_table(self.columns, self.records)

    def _repr_html_(self) -> str:
        return html_table(self.columns, self.records)

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each record (needs pandas)."""
        return frame([dataclasses.asdict(record) for record in self.records])  # type: ignore[call-overload]


def paragraph(text: str, *, strong: bool = False) -> str:
    """An HTML paragraph of escaped text."""
    escaped = html.escape(text)
    return f"<p><b>{escaped}</b></p>" if strong else f"<p>{escaped}</p>"


def optional(value: Optional[float], text: Callable[[float], str]) -> str:
    """Text of a number that may be missing."""
    return "" if value is None else text(value)


def page(parts: Sequence[str]) -> str:
    """Parts of a notebook's output, below each other and not wider than
    is read easily."""
    body: List[str] = [part for part in parts if part]
    return '<div style="max-width:1000px">' + "\n".join(body) + "</div>"


def picture(figure: Optional[Figure], caption: str) -> str:
    """A figure with its caption; "" where there is none."""
    if not figure:
        return ""
    return (
        '<figure style="margin:1em 0">'
        f'<div style="overflow-x:auto">{figure}</div>'
        f'<figcaption style="opacity:.75">{html.escape(caption)}</figcaption></figure>'
    )
