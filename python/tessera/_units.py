"""Quantities as people read them; the same forms that the tools print."""

from __future__ import annotations

GIB = float(2**30)


def duration(seconds: float) -> str:
    """1.28 s, 3.4 ms, 2.1 days."""
    if seconds <= 0:
        return "0 s"
    for limit, unit, size in (
        (1e-3, "us", 1e-6),
        (1.0, "ms", 1e-3),
        (120.0, "s", 1.0),
        (7200.0, "min", 60.0),
        (172800.0, "h", 3600.0),
    ):
        if seconds < limit:
            return f"{_significant(seconds / size)} {unit}"
    return f"{_significant(seconds / 86400)} days"


def count(value: float) -> str:
    """46.7B, 1.2M, 950."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if abs(value) >= size:
            return f"{_significant(value / size)}{unit}"
    return f"{value:g}"


def gib(value: float) -> str:
    """Bytes in units of 2^30: 71.3 GiB."""
    return f"{value / GIB:.1f} GiB"


def percent(fraction: float) -> str:
    """0.434 -> 43.4 %."""
    return f"{100 * fraction:.1f} %"


def _significant(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
