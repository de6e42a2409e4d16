"""Words, marks and numbers of verdicts on claims."""

from __future__ import annotations

import math

from touchstone.judge.claims.quantities import QUANTITIES
from touchstone.judge.claims.ruling import ClaimRuling, Measurement, Ruling
from touchstone.judge.reading.disturbance import Disturbance
from touchstone.manifest.claim import UNITS, PublishedValue
from touchstone.report.format import NOTHING, lower_first, percent, plural, quantity, ratio
from touchstone.report.words import Sign
from touchstone.vocabulary.figure import Unit

SIGNS = {
    Ruling.HOLDS: Sign("holds", "✓", "holds here"),
    Ruling.EXPLAINED: Sign("explained", "◆", "does not hold here, and an exhibit shows why"),
    Ruling.CONTRADICTED: Sign("contradicted", "✗", "does not hold here"),
    Ruling.UNDECIDED: Sign("undecided", "~", "undecided"),
    Ruling.NOT_TESTABLE: Sign("untestable", "○", "not testable: the published number measured something else"),
    Ruling.NOT_MEASURED: Sign("unmeasured", NOTHING, "not measured here"),
}
"""In the order of the pages: what held is said first."""

ABOUT = {
    Ruling.HOLDS: "Measured here, the whole interval lies within what the statement asks for.",
    Ruling.EXPLAINED: "Contradicted by the sound contender, reproduced by one with a known defect: the cause is shown.",
    Ruling.CONTRADICTED: "Measured here, the whole interval lies outside of what the statement asks for.",
    Ruling.UNDECIDED: "The interval reaches across a bound, or the measurement must be read with care.",
    Ruling.NOT_TESTABLE: "The published number measured something else than it says; the evidence is given.",
    Ruling.NOT_MEASURED: "No valid measurement is at hand; the reason is given.",
}
"""What each verdict means, for the reader."""


def value(number: float | None, unit: str) -> str:
    """A value in a base unit, or a ratio."""
    if number is None:
        return NOTHING
    if unit == "ratio":
        return ratio(number)
    return quantity(number, Unit(unit)) if unit != "event" else str(number)


def measured(m: Measurement) -> str:
    """What was measured, without its interval."""
    if m.unit == "event":
        return NOTHING if m.happened is None else ("it happened" if m.happened else "it did not happen")
    return value(m.value, m.unit)


def interval(m: Measurement) -> str:
    """The interval; empty where there is none, `exact` where it was counted."""
    if m.low is None or m.high is None:
        return ""
    if m.low == m.high:
        return "exact"
    if math.isinf(m.high):
        return f"at least {value(m.low, m.unit)}"
    if m.low == 0:
        return f"at most {value(m.high, m.unit)}"
    return f"{value(m.low, m.unit)} to {value(m.high, m.unit)}"


def bounds(m: Measurement) -> str:
    """What the statement asks for."""
    if m.unit == "event":
        return ""
    low, high = value(m.at_least, m.unit), value(m.at_most, m.unit)
    if m.at_least is not None and m.at_most is not None:
        return f"{low} to {high}" if low != high else low
    return f"at least {low}" if m.at_least is not None else f"at most {high}" if m.at_most is not None else ""


def figure(m: Measurement) -> str:
    """The figure's title, in the middle of a sentence."""
    return lower_first(QUANTITIES[m.figure].title) if m.figure in QUANTITIES else m.figure


def published(p: PublishedValue) -> str:
    """A published number as it was given."""
    if p.unit == "ratio":
        return ratio(p.value)
    number = f"{p.value:,.2f}".rstrip("0").rstrip(".") if abs(p.value) < 10000 else f"{p.value:,.0f}"
    return f"{number} {'' if p.unit == 'count' else p.unit}".strip()


def in_lab_units(p: PublishedValue) -> str:
    """A published size in binary multiples, as touchstone writes sizes; empty for everything else."""
    base, factor = UNITS[p.unit]
    return value(p.value * factor, base) if base == "B" and p.unit in ("kB", "MB", "GB") else ""


def other_load_words(seen: Disturbance) -> str:
    """What else the machine did while loads were measured, in a sentence; empty if nobody looked."""
    parts = [
        f"{what} {percent(round(share, 4))} of its CPU time"
        for what, share in (("other processes used", seen.others), ("the hypervisor took", seen.stolen))
        if share is not None
    ]
    return f"While {plural(seen.loads, 'load')} were measured, {' and '.join(parts)} (medians)." if parts else ""


def reason(ruling: ClaimRuling) -> str:
    """The reason of a verdict as a sentence, with how many rounds would decide."""
    text = ruling.reason[:1].upper() + ruling.reason[1:]
    against = [m for m in ruling.measurements if m.ruling is Ruling.CONTRADICTED and m.value is not None]
    if ruling.ruling is Ruling.CONTRADICTED and against and bounds(against[0]):
        m = against[0]
        within = f" ({interval(m)})" if interval(m) else ""
        text = f"{m.label}: tested as {bounds(m)}, measured {measured(m)}{within}. {text}".strip()
    if text and text[-1] not in ".!?":
        text += "."
    if ruling.ruling is Ruling.UNDECIDED and ruling.more_rounds:
        text += f" About {plural(ruling.more_rounds, 'further round')} would decide it."
    return text
