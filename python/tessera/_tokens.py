"""Token ids from Python objects, as the file that a program reads."""

from __future__ import annotations

import array
import os
import pathlib
import sys
from typing import Any, List, Protocol, Sequence, Union, runtime_checkable


@runtime_checkable
class ArrayLike(Protocol):
    """What numpy's arrays and PyTorch's tensors have in common."""

    def tolist(self) -> Any: ...


Tokens = Union[str, "os.PathLike[str]", Sequence[int], Sequence[Sequence[int]], ArrayLike]

MOST = 2**31 - 1


def _row(values: Sequence[Any], where: str) -> List[int]:
    for i, value in enumerate(values):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{where}[{i}]: expected a token id, a whole number, got {value!r}")
        if not 0 <= value.__index__() <= MOST:
            raise ValueError(f"{where}[{i}]: expected a token id from 0 to {MOST}, got {value}")
    return [value.__index__() for value in values]


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, ArrayLike) else value


def write_tokens(tokens: Any, folder: "os.PathLike[str]") -> pathlib.Path:
    """Writes ids as an .npy file into `folder`. A flat sequence is one text, a
    sequence of equally long rows is rows (docs/running.md, "Token files")."""
    values = _plain(tokens)
    if not _is_sequence(values):
        raise TypeError(f"tokens: expected a file, ids, rows of ids or an array, got {type(tokens).__name__}")
    if not len(values):
        raise ValueError("tokens: expected at least one id, got none")
    if _is_sequence(_plain(values[0])):
        rows: List[List[int]] = []
        for i, row in enumerate(map(_plain, values)):
            if not _is_sequence(row):
                raise TypeError(f"tokens[{i}]: expected a row of ids like the first, got {row!r}")
            if rows and len(row) != len(rows[0]):
                raise ValueError(f"tokens[{i}]: expected {len(rows[0])} ids as in the first row, got {len(row)}")
            rows.append(_row(row, f"tokens[{i}]"))
        if not rows[0]:
            raise ValueError("tokens[0]: expected at least one id, got none")
        shape, ids = f"({len(rows)}, {len(rows[0])})", [value for row in rows for value in row]
    else:
        ids = _row(values, "tokens")
        shape = f"({len(ids)},)"
    # Version 1.0 of numpy's format (numpy/lib/format.py): the data begins at a
    # multiple of 64 bytes.
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    data = array.array("i", ids)
    if sys.byteorder == "big":
        data.byteswap()
    path = pathlib.Path(folder) / "tokens.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data.tobytes())
    return path
