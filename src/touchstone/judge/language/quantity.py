"""Numbers in the words of a sentence: a value with its unit, a share, a factor."""

from __future__ import annotations

from touchstone.vocabulary.figure import FIGURES, Unit

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


def number(value: float) -> str:
    """Three significant digits, thousands grouped, no exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def seconds(value: float) -> str:
    """A time in the unit that suits its size."""
    for scale, name in _TIMES:
        if abs(value) >= scale * 0.9995:
            return f"{number(value / scale)} {name}"
    return f"{number(value / 1e-9)} ns" if value else "0 s"


def size(value: float) -> str:
    """Bytes, in binary multiples and called so."""
    for scale, name in _BYTES:
        if abs(value) >= scale:
            return f"{number(value / scale)} {name}"
    return f"{number(value)} B"


def share(value: float) -> str:
    """A share as a percentage."""
    percent = value * 100
    return f"{percent:.2g} %" if abs(percent) < 10 else f"{percent:.0f} %"


def quantity(figure: str, value: float) -> str:
    """A figure's value with its unit."""
    match FIGURES[figure].unit:
        case Unit.SECONDS:
            return seconds(value)
        case Unit.BYTES:
            return size(value)
        case Unit.PER_SECOND:
            return f"{number(value)}/s"
        case Unit.SHARE:
            return share(value)
        case Unit.COUNT:
            return number(value)


def per_request(each: float) -> str:
    """How many of something come with a request: `one for every 200 requests`, `3 per request`."""
    return f"{number(each)} per request" if each >= 1 else f"one for every {number(1 / each)} requests"
