"""A claim's plot: what was published against what was measured, and what the statement asks for, as inline SVG.

Colours are the page's CSS variables, so that one drawing suits light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from touchstone.judge.claims.ruling import ClaimRuling, Measurement, Ruling
from touchstone.report.claims.words import SIGNS, measured, value
from touchstone.report.format import TIMES, scale_for
from touchstone.report.plots.ticks import linear_ticks, log_ticks, tick
from touchstone.vocabulary.figure import Unit

_WIDTH, _PAD, _ROW, _AXIS = 440.0, 14.0, 46.0, 30.0
_TEXT = 12.5


@dataclass(frozen=True)
class _Scale:
    """Values to pixels, on a logarithm where every value is positive."""

    low: float
    high: float
    log: bool

    def x(self, number: float) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, self._within(number)))
        return _PAD + (_WIDTH - 2 * _PAD) * (at - low) / (high - low)

    def _within(self, number: float) -> float:
        return min(max(number, self.low), self.high)


def draw(ruling: ClaimRuling) -> Markup | None:
    """The plot of a claim; None if there is nothing to set next to each other."""
    rows = [(m, False) for m in ruling.measurements]
    rows += [(m, True) for e in ruling.explanations for m in e.measurements]
    rows = [(m, exhibit) for m, exhibit in rows if m.unit != "event" and _numbers(m)]
    unit = rows[0][0].unit if rows else ""
    rows = [(m, exhibit) for m, exhibit in rows if m.unit == unit]
    if not any(m.value is not None or m.published is not None for m, _ in rows):
        return None
    scale = _scale([number for m, _ in rows for number in _numbers(m)])
    height = _ROW * len(rows) + _AXIS
    parts = [_axis(scale, unit, height)]
    parts += [_row(m, exhibit, number * _ROW, scale) for number, (m, exhibit) in enumerate(rows)]
    words = "; ".join(_in_words(m) for m, _ in rows)
    return Markup(
        f'<svg class="claim-plot" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" font-size="{_TEXT}" font-family="var(--sans)">'
        f"<title>{escape(words)}</title>{''.join(parts)}</svg>"
    )


def _numbers(m: Measurement) -> list[float]:
    bounds = [b for b in (m.at_least, m.at_most) if b is not None and math.isfinite(b)]
    return bounds + [n for n in (m.value, m.low, m.high, m.published) if n is not None and math.isfinite(n)]


def _scale(numbers: Sequence[float]) -> _Scale:
    low, high = min(numbers), max(numbers)
    if low > 0:
        air = max((high / low) ** 0.12, 1.12)
        return _Scale(low / air, high * air, True)
    air = max((high - low) * 0.12, 0.5 if high == low else 0.0)
    return _Scale(low - air, high + air, False)


def _axis(scale: _Scale, unit: str, height: float) -> str:
    base = Unit(unit) if unit != "ratio" else Unit.COUNT
    if scale.log:
        ticks = log_ticks(scale.low, scale.high, base)
        if len(ticks) < 3:
            ticks = _round_ticks(scale.low, scale.high, base)
    else:
        ticks = [t for t in linear_ticks(max(scale.high, 1e-9), base) if scale.low <= t <= scale.high]
    bottom = height - _AXIS
    lines = [f'<line x1="{_PAD}" x2="{_WIDTH - _PAD}" y1="{bottom}" y2="{bottom}" stroke="var(--muted)"/>']
    for at in ticks:
        x = scale.x(at)
        anchor = "start" if x < 40 else "end" if x > _WIDTH - 40 else "middle"
        suffix = TIMES if unit == "ratio" else ""
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="2" y2="{bottom}" stroke="var(--grid)"/>')
        lines.append(
            f'<text x="{x:.1f}" y="{bottom + 18}" fill="var(--muted)" text-anchor="{anchor}">'
            f"{escape(tick(at, base))}{suffix}</text>"
        )
    return "".join(lines)


def _round_ticks(low: float, high: float, unit: Unit) -> list[float]:
    """Three to six round ticks in the displayed unit, for ranges within a decade."""
    factor = scale_for([low, high], unit).factor
    span = (high - low) / factor
    power = 10.0 ** math.floor(math.log10(span / 5))
    step = next(s * power for s in (1.0, 2.0, 2.5, 5.0, 10.0) if span / (s * power) <= 5)
    first = math.ceil(low / factor / step)
    return [n * step * factor for n in range(first, math.floor(high / factor / step) + 1)]


def _row(m: Measurement, exhibit: bool, top: float, scale: _Scale) -> str:
    middle = top + 31
    left = scale.x(scale.low if m.at_least is None else m.at_least)
    right = scale.x(scale.high if m.at_most is None else m.at_most)
    label = f"◆ {_short(m.label)}" if exhibit else _short(m.label)
    parts = [
        f'<rect x="{left:.1f}" y="{middle - 10:.1f}" width="{max(right - left, 2):.1f}" height="20" rx="3" '
        f'fill="var(--band)" stroke="var(--line)"/>',
        f'<text x="{_PAD}" y="{top + 14:.1f}" fill="var(--ink)">{escape(label)}</text>',
    ]
    colour = "var(--c4)" if exhibit else f"var(--{SIGNS[m.ruling].kind})"
    if m.low is not None and m.high is not None and m.low != m.high:
        parts.append(
            f'<line x1="{scale.x(m.low):.1f}" x2="{scale.x(m.high):.1f}" y1="{middle:.1f}" y2="{middle:.1f}" '
            f'stroke="{colour}" stroke-width="3" stroke-linecap="round"/>'
        )
    if m.published is not None:
        x = scale.x(m.published)
        parts.append(
            f'<path d="M{x:.1f} {middle - 7:.1f}l7 7-7 7-7-7z" fill="var(--panel)" stroke="var(--ink)" '
            f'stroke-width="1.6"/>'
        )
    if m.value is not None:
        fill = "var(--panel)" if m.ruling is Ruling.UNDECIDED else colour
        parts.append(
            f'<circle cx="{scale.x(m.value):.1f}" cy="{middle:.1f}" r="5.5" fill="{fill}" stroke="{colour}" '
            f'stroke-width="2"/>'
        )
        parts.append(
            f'<text x="{_WIDTH - _PAD}" y="{top + 14:.1f}" fill="{colour}" text-anchor="end" font-weight="600">'
            f"{escape(value(m.value, m.unit))}</text>"
        )
    else:
        parts.append(
            f'<text x="{_WIDTH - _PAD}" y="{top + 14:.1f}" fill="var(--muted)" text-anchor="end">not measured</text>'
        )
    return "".join(parts)


def _short(label: str) -> str:
    return label if len(label) <= 48 else f"{label[:30]}…{label[-16:]}"


def _in_words(m: Measurement) -> str:
    as_published = f"published {value(m.published, m.unit)}, " if m.published is not None else ""
    return f"{m.label}: {as_published}measured {measured(m)}"
