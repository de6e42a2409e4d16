"""Base units to text: the only place where a figure is scaled, and where its digits are chosen.

Scaling keeps three significant digits, and more where an interval is narrower than that. Bytes are binary (MiB).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.vocabulary.figure import Unit

NOTHING = "\N{EN DASH}"
"""Stands where there is no number; never 0."""
TIMES = "\N{MULTIPLICATION SIGN}"
"""Stands after a ratio."""


@dataclass(frozen=True)
class Scale:
    """A unit that people read: a value in the base unit is divided by `factor`."""

    factor: float
    suffix: str

    def number(self, value: float, decimals: int) -> str:
        """The value in this unit with `decimals` places and thousands set apart."""
        shown = value / self.factor
        text = f"{shown:,.{decimals}f}"
        return text if float(text.replace(",", "")) != 0 or value == 0 else _tiny(shown)

    def text(self, value: float, decimals: int) -> str:
        """The value with its unit."""
        return f"{self.number(value, decimals)} {self.suffix}".rstrip()


_KIB = 1024.0
_SCALES: dict[Unit, tuple[Scale, ...]] = {
    Unit.SECONDS: (Scale(1.0, "s"), Scale(1e-3, "ms"), Scale(1e-6, "µs"), Scale(1e-9, "ns")),
    Unit.BYTES: (Scale(_KIB**3, "GiB"), Scale(_KIB**2, "MiB"), Scale(_KIB, "KiB"), Scale(1.0, "B")),
    Unit.PER_SECOND: (Scale(1e6, "M/s"), Scale(1e3, "k/s"), Scale(1.0, "/s")),
    Unit.SHARE: (Scale(0.01, "%"),),
    Unit.COUNT: (Scale(1.0, ""),),
}


def _tiny(shown: float) -> str:
    return f"{shown:.1g}"


def scale_for(values: Iterable[float | None], unit: Unit) -> Scale:
    """One scale for several values, chosen by their geometric middle."""
    present = sorted(abs(v) for v in values if v is not None and math.isfinite(v) and v != 0)
    scales = _SCALES[unit]
    if not present:
        return next(scale for scale in scales if scale.factor == 1.0 or len(scales) == 1)
    middle = math.sqrt(present[0] * present[-1])
    return next((scale for scale in scales if middle >= scale.factor), scales[-1])


def decimals_for(value: float | None, scale: Scale, low: float | None = None, high: float | None = None) -> int:
    """Decimal places: three significant digits, or up to five where the interval is known more finely."""
    if value is None or value == 0 or not math.isfinite(value):
        return 0
    magnitude = math.floor(math.log10(abs(value) / scale.factor))
    digits = 3
    if low is not None and high is not None and high > low:
        half = (high - low) / 2 / scale.factor
        digits = min(5, max(3, magnitude - math.floor(math.log10(half)) + 1))
    places = max(0, digits - 1 - magnitude)
    whole = abs(value / scale.factor)
    return 0 if scale.factor == 1.0 and scale.suffix in ("B", "") and whole == round(whole) else places


def quantity(value: float | None, unit: Unit) -> str:
    """A value by itself: `12.3 ms`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    scale = scale_for([value], unit)
    return scale.text(value, decimals_for(value, scale))


def seconds(value: float | None) -> str:
    """A duration by itself."""
    return quantity(value, Unit.SECONDS)


def size(value: float | None) -> str:
    """A number of bytes by itself."""
    return quantity(value, Unit.BYTES)


def interval(low: float | None, high: float | None, scale: Scale, decimals: int) -> str:
    """An interval without its unit: `12.1 to 12.5`; empty if there is none."""
    if low is None or high is None:
        return ""
    return f"{scale.number(low, decimals)} to {scale.number(high, decimals)}"


def ratio(value: float | None) -> str:
    """A ratio to the baseline, `1.42` and the multiplication sign."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{_ratio_number(value)}{TIMES}"


def ratio_interval(low: float | None, high: float | None) -> str:
    """The interval of a ratio; empty if there is none."""
    if low is None or high is None:
        return ""
    if math.isinf(high):
        return f"at least {ratio(low)}"
    if low == 0:
        return f"at most {ratio(high)}"
    return f"{ratio(low)} to {ratio(high)}"


def _ratio_number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 0.1:
        return f"{value:.2f}"
    return f"{value:.2g}"


def percent(share: float) -> str:
    """A share as a percentage without needless digits: `5 %`."""
    return f"{share * 100:.4g} %"


def duration(total: float) -> str:
    """How long something took, for people: `4 min 12 s`."""
    if total < 60:
        return f"{total:.0f} s"
    minutes, rest = divmod(round(total), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def plural(count: int, noun: str, nouns: str | None = None) -> str:
    """`1 round`, `5 rounds`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def lower_first(title: str) -> str:
    """A title within a sentence: `throughput`, but `RSS per connection`."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
