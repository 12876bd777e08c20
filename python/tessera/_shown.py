"""How results are shown: said once, for a terminal and for a notebook."""

from __future__ import annotations

import dataclasses
import html
import pathlib
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Sequence, Union

if TYPE_CHECKING:
    import os


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


class Figure(str):
    """A picture as one `<svg>` element, in the colours of the page around it. A
    notebook shows it; `save` writes it."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: Union[str, "os.PathLike[str]"], background: str = "#fff") -> None:
        """Writes an SVG file with dark lines on `background`, a CSS colour."""
        style = f'<svg style="background:{html.escape(background)};color:#222" '
        pathlib.Path(path).write_text(self.replace("<svg ", style, 1), encoding="utf-8")


@dataclasses.dataclass(frozen=True)
class Line:
    """A sentence: as it is in a terminal, a paragraph in a notebook."""

    text: str
    strong: bool = False

    def _text(self) -> str:
        return self.text

    def _html(self) -> str:
        text = self.text[:1].upper() + self.text[1:]
        if self.strong:
            return f"<p><b>{html.escape(text)}</b></p>"
        return f"<p>{html.escape(text)}{'' if text.endswith('.') else '.'}</p>"


@dataclasses.dataclass(frozen=True)
class Grid:
    """A table, in a terminal with a blank line before and after."""

    columns: Sequence[Column]
    items: Iterable[Any]

    def _text(self) -> str:
        return "\n" + text_table(self.columns, self.items) + "\n"

    def _html(self) -> str:
        return html_table(self.columns, self.items)


@dataclasses.dataclass(frozen=True)
class Picture:
    """A figure with its caption, in a notebook; nothing where there is none."""

    figure: Optional[Figure]
    caption: str

    def _text(self) -> None:
        return None

    def _html(self) -> str:
        if not self.figure:
            return ""
        return (
            '<figure style="margin:1em 0">'
            f'<div style="overflow-x:auto">{self.figure}</div>'
            f'<figcaption style="opacity:.75">{html.escape(self.caption)}</figcaption></figure>'
        )


Part = Union[Line, Grid, Picture]


class Shown:
    """A result that prints in a terminal and shows in a notebook by its parts."""

    def _parts(self) -> Iterable[Part]:
        raise NotImplementedError

    def __str__(self) -> str:
        texts = (part._text() for part in self._parts())
        return "\n".join(text for text in texts if text is not None).strip("\n")

    def _repr_html_(self) -> str:
        """Not wider than is read easily."""
        body = "\n".join(filter(None, (part._html() for part in self._parts())))
        return f'<div style="max-width:1000px">{body}</div>'
