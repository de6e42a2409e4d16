"""The words of an explanation, for every form of it."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.judge.why.explanation import CountDifference, CpuBreakdown, CpuDifference, CpuExplanation
from touchstone.report.format import percent, plural
from touchstone.report.why.waterfall import Waterfall

_MICRO = 1e6


def micros(seconds: float) -> str:
    """CPU time per request, as a reader compares it: microseconds."""
    return f"{seconds * _MICRO:.2f}" if abs(seconds) < 1e-5 else f"{seconds * _MICRO:.1f}"


def signed(seconds: float) -> str:
    """A difference in microseconds, with its sign."""
    return f"{'+' if seconds >= 0 else '-'}{micros(abs(seconds))}"


def between(part: CpuDifference) -> str:
    """A difference's interval; empty where there are too few rounds for one."""
    if part.low is None or part.high is None:
        return ""
    return f"{signed(part.low)} to {signed(part.high)}"


def headline(found: CpuExplanation) -> str:
    """What is explained, in a sentence."""
    total = found.total
    sure = (
        f"interval {between(total)} µs"
        if total.low is not None
        else f"no interval from {plural(found.rounds, 'round')}: 3 are the least"
    )
    return (
        f"{found.contender} takes {micros(total.contender)} µs of CPU per request, {found.baseline} "
        f"{micros(total.baseline)} µs, at {found.rate:,.0f} requests per second: "
        f"{signed(total.difference)} µs ({sure})."
    )


def account_headline(found: CpuBreakdown) -> str:
    """One contender's CPU per request and its largest parts, in a sentence."""
    largest = ", ".join(f"{micros(part.seconds)} {part.name}" for part in found.parts[:3])
    return (
        f"{found.contender} takes {micros(found.total.seconds)} µs of CPU per request at {found.rate:,.0f} requests "
        f"per second; the largest parts, in µs: {largest}."
    )


def sentence(found: CpuExplanation) -> str:
    """The largest certain parts, in a sentence."""
    parts = sorted(found.parts, key=lambda part: -abs(part.difference))
    certain = [part for part in parts if part.sure]
    if not certain:
        return (
            "No part is certainly different: more rounds would tell, if there is a difference "
            "(five, `--rounds 5`, give intervals a third as wide as three)."
        )
    words = f"Parts of the {signed(found.total.difference)} µs: {', '.join(_named(part) for part in certain[:3])}."
    unsure = "" if parts[0].sure else f" The largest part is not certain: {_named(parts[0])}."
    return words + unsure


def _named(part: CpuDifference) -> str:
    return f"{signed(part.difference)} {part.name}"


def scale(fall: Waterfall) -> str:
    """Where the bars of a waterfall begin and end."""
    return f"The bars' scale goes from {micros(fall.low)} to {micros(fall.high)} µs."


def rest(found: CpuExplanation) -> str:
    """What the rest is."""
    return (
        f"The rest, {signed(found.rest.difference)} µs, is what the contenders take other than the copies of them that "
        "were profiled. What a profiler costs is spread over the parts."
    )


def counts(found: CpuExplanation) -> list[tuple[str, Sequence[CountDifference]]]:
    """The tables of counts with their heads: system calls, and what threads wait for. Empty ones are left out."""
    tables: list[tuple[str, Sequence[CountDifference]]] = [
        ("system calls per request", found.calls),
        ("counted per request", found.counted),
        ("threads that wait, on average", found.waits),
    ]
    return [(head, rows) for head, rows in tables if rows]


def count(value: float, sign: str = "") -> str:
    """A number of things: to hundredths where they are few, one digit of less. `sign` is `+` for a difference."""
    if 0 < abs(value) < 0.01:
        return f"{value:{sign}.1g}"
    return f"{value:{sign},.0f}" if abs(value) >= 1000 else f"{value:{sign}.2f}"


def off_cpu(found: CpuExplanation | CpuBreakdown) -> str:
    """Why it is not known what threads wait for; empty if it is."""
    return f"What threads wait for is not known: {found.no_waits}." if found.no_waits else ""


def profilers(found: CpuExplanation) -> str:
    """What sampled."""
    a, b = found.profilers
    return a if a == b else f"{found.baseline}: {a}; {found.contender}: {b}"


def unmatched(found: CpuExplanation) -> str:
    """What no table has; empty if there is nothing."""
    if not found.unmatched:
        return ""
    named = ", ".join(f"{name} ({percent(share)})" for name, share in found.unmatched[:5])
    return f"No table of patterns has: {named}."
