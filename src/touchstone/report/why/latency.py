"""An explanation of p99 on a terminal: three lines for each contender, and a table of parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.markup import escape

from touchstone.judge.why.explanation import CpuBreakdown, CpuExplanation, Unexplained
from touchstone.judge.why.tail.explanation import ContenderLatency, LatencyExplanation, PartOfLatency
from touchstone.judge.why.tail.parts import HELP, LatencyPart
from touchstone.report.format import percent, plural
from touchstone.report.why.terminal import make_table, print_explanation, say, widen

_LEAST_SHOWN = 0.01
"""Parts below this share of the largest band are left out of the table; the rest never is."""


def millis(seconds: float, sign: str = "") -> str:
    """Milliseconds as a reader compares them; `sign` is `+` for a difference."""
    return f"{seconds * 1e3:{sign}.2f}" if abs(seconds) < 0.01 else f"{seconds * 1e3:{sign}.1f}"


def interval(part: PartOfLatency) -> str:
    """The interval in milliseconds; empty where there are too few rounds for one."""
    return "" if part.low is None or part.high is None else f"{millis(part.low)} to {millis(part.high)}"


def headline(found: LatencyExplanation) -> str:
    """What is explained, in a sentence."""
    own = {band.name: band.total.seconds for band in found.contender.bands}
    if found.baseline is None:
        against = f"its median {millis(own['p50'])} ms"
    else:
        theirs = {band.name: band.total.seconds for band in found.baseline.bands}
        against = f"that of {found.baseline.contender} {millis(theirs['p99'])} ms"
    within = interval(found.total)
    sure = f"interval {within}" if within else f"no interval from {plural(found.contender.rounds, 'round')}"
    return (
        f"{found.contender.contender}: p99 is {millis(own['p99'])} ms, {against}: "
        f"{millis(found.total.seconds, '+')} ms ({sure})."
    )


def division(found: LatencyExplanation) -> str:
    """The largest parts of the difference and the rest, in a sentence."""
    named = [part for part in found.parts if part.name != LatencyPart.REST][:3]
    rest = next((part.seconds for part in found.parts if part.name == LatencyPart.REST), 0.0)
    words = [f"{millis(part.seconds)}{_between(part)} {part.name}" for part in named if abs(part.seconds) >= 5e-5]
    return f"The {millis(found.total.seconds, '+')} ms are {', '.join([*words, f'{millis(rest)} rest'])}."


def latency_lines(found: Iterable[LatencyExplanation | Unexplained]) -> Iterator[str]:
    """Each explanation in a paragraph: what differs, its parts, the verdict."""
    for one in found:
        if isinstance(one, Unexplained):
            yield from [f"{one.contender} against {one.baseline}, {one.load}: not explained. {one.reason}", ""]
        else:
            yield from [f"{one.load}: {headline(one)} {division(one)} {verdict(one)}", ""]


def _between(part: PartOfLatency) -> str:
    return f" ({interval(part)})" if interval(part) else ""


def verdict(found: LatencyExplanation) -> str:
    """The verdict, with where to look."""
    help_ = [HELP[part] for part in LatencyPart if part in HELP and any(name.startswith(part) for name in found.main)]
    return f"{found.verdict} Where to look: {'; '.join(help_)}." if help_ else found.verdict


def print_any(console: Console, found: CpuExplanation | CpuBreakdown | LatencyExplanation | Unexplained) -> None:
    """Print an explanation of latency or of CPU."""
    if isinstance(found, LatencyExplanation):
        print_latency(console, found)
    else:
        print_explanation(console, found)


def print_latency(console: Console, found: LatencyExplanation) -> None:
    """Print what was found of one contender."""
    widen(console)
    say(console, f"{found.load}: {headline(found)}", "bold")
    say(console, division(found))
    say(console, verdict(found))
    for one in (found.contender, found.baseline):
        if one is not None:
            _print_bands(console, one)
    for line in notes(found):
        say(console, line, "dim")


def _print_bands(console: Console, one: ContenderLatency) -> None:
    made = make_table("", [f"{one.contender}, ms", *(band.name for band in one.bands)])
    totals = {band.name: band.total.seconds for band in one.bands}
    made.add_row("latency", *(millis(seconds) for seconds in totals.values()), style="bold")
    by_band = {band.name: {part.name: part.seconds for part in band.parts} for band in one.bands}
    least = _LEAST_SHOWN * max(totals.values(), default=0.0)
    names = sorted(
        {name for parts in by_band.values() for name in parts},
        key=lambda name: (name == LatencyPart.REST, -max(parts.get(name, 0.0) for parts in by_band.values())),
    )
    for name in names:
        values = [parts.get(name, 0.0) for parts in by_band.values()]
        if name == LatencyPart.REST or max(values) >= least:
            made.add_row(escape(name), *(millis(value) for value in values))
    console.print(made)


def notes(found: LatencyExplanation) -> Iterator[str]:
    """What a reader needs to know of how it was measured: pauses by name, what was not seen, the cost."""
    for one in (found.contender, found.baseline):
        if one is None:
            continue
        if one.pauses:
            named = ", ".join(f"{name} {millis(seconds)} ms" for name, seconds in one.pauses.items())
            yield f"{one.contender}: pauses of the runtime in all windows: {named}."
        for sentence in one.unseen:
            yield f"{one.contender}: not seen: {sentence}."
        if one.cost is not None:
            cost = percent(round(one.cost, 3))
            if one.cost_low is not None and one.cost_high is not None:
                cost += f" ({percent(round(one.cost_low, 3))} to {percent(round(one.cost_high, 3))})"
            yield f"{one.contender}: keeping stamps and looking took {cost} of CPU per request."
