"""The checks of one published result that need no rerun. Each gives a code with a statement, or nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from touchstone.audit.published import PublishedResult
from touchstone.judge.language.quantity import number, seconds, share
from touchstone.judge.statistics.littles_law import OFF, requests_in_flight

ROUNDING = OFF
"""By how much a mean may miss what the percentiles leave to it."""
IDLE = 0.5
"""Below this share of its connections a closed loop was not in fact closed: they waited for something else."""
COUNT = 0.10
"""A run lasts some tenths of a second longer than stated; a tenth of its count is not explained by that."""
CPU = 0.25
"""Samples of a container's CPU lag by a second; a quarter of the run is more than that."""
REACHED = 0.99
ROUNDED = 0.005
"""A histogram of three digits gives a percentile up to a thousandth above the maximum, and both are printed rounded."""


@dataclass(frozen=True)
class Fault:
    """A cause for doubt about one entry."""

    code: str
    statement: str


_WORDS = {
    "rate": "a rate",
    "mean_s": "a mean latency",
    "connections": "the number of connections",
    "percentiles": "percentiles",
    "errors": "a count of errors",
    "unanswered": "a count of requests without a response",
    "duration_s": "a duration",
    "answered": "a count of responses",
    "cpus": "CPUs as sampled",
    "cpu_s": "CPU time as counted",
    "window_s": "time stamps",
    "offered": "an offered rate",
}
_LAW = "Little's law"
_NEEDS: dict[str, tuple[str, ...]] = {
    _LAW: ("rate", "mean_s", "connections"),
    "order of percentiles": ("percentiles",),
    "errors": ("errors",),
    "requests without a response": ("unanswered",),
    "rate against count": ("rate", "duration_s", "answered"),
    "CPU as sampled and as counted": ("cpus", "cpu_s"),
    "window against duration": ("window_s", "duration_s"),
    "rate against what was offered": ("offered", "rate"),
}
"""What each check needs of a result."""


def not_applied(result: PublishedResult) -> Iterator[tuple[str, str]]:
    """The checks that could not be applied to a result, each with the reason."""
    lawless = _lawless(result)
    if lawless is not None:
        yield _LAW, lawless
    for check, needs in _NEEDS.items():
        lacks = [_WORDS[name] for name in needs if getattr(result, name) in (None, {})]
        if lacks and not (check == _LAW and lawless is not None):
            yield check, f"the file does not give {' and '.join(lacks)}"
    if result.mean_of_all:
        yield "mean against percentiles", "the mean is of all requests, and the percentiles are of the right ones alone"


def _lawless(r: PublishedResult) -> str | None:
    """Why Little's law says nothing of a result; None if it does."""
    if r.open_loop:
        return "latency of an open loop contains its queue, which has no bound"
    if r.rate == 0:
        return "not one response was counted"
    if not r.pipeline and r.connections is not None:
        return "the file does not say how many requests a connection may have in flight"
    return r.lawless


def faults(result: PublishedResult) -> list[Fault]:
    """All that is wrong with one result, as far as its own numbers show."""
    impossible = list(_impossible(result))
    if impossible:
        return [Fault("impossible-number", statement) for statement in impossible]
    checks = (_littles_law, _percentiles, _mean, _errors, _part_of_the_run, _offered)
    return [Fault(code, statement) for check in checks for code, statement in check(result)]


def _impossible(r: PublishedResult) -> Iterator[str]:
    """Numbers that nothing can have measured; no other check says anything of such a result."""
    named = {"rate": r.rate, "duration": r.duration_s, "mean latency": r.mean_s, "maximum": r.max_s, "minimum": r.min_s}
    named |= {"count of responses": r.answered, "count of errors": r.errors, "number of connections": r.connections}
    named |= {_mark(p): value for p, value in r.percentiles.items()}
    for name, value in named.items():
        if value is not None and not (math.isfinite(value) and value >= 0):
            yield f"the {name} is {value}, which nothing can have measured"


def _littles_law(r: PublishedResult) -> Iterator[tuple[str, str]]:
    """Rate times mean latency is the mean number of requests in flight (Little 1961). A closed loop has a bound.

    In an open loop latency counts from the intended send time, so requests may wait in a queue without bound. A loop
    that waits for responses, and sends at a rate, has the bound and leaves connections idle on purpose.
    """
    if _lawless(r) is not None or not r.rate or not r.mean_s or not r.connections or not r.pipeline:
        return
    slots = r.connections * r.pipeline
    least_s = r.mean_s - r.mean_step_s if r.least_mean_s is None else r.least_mean_s
    least, held, most = (
        requests_in_flight(r.rate, max(0.0, mean), slots) for mean in (least_s, r.mean_s, r.mean_s + r.mean_step_s)
    )
    sum_ = f"{number(r.rate)}/s times {seconds(r.mean_s)} is {number(held.requests)} requests in flight"
    if least.above > OFF:
        yield "littles-law", f"{sum_}, and there is room for {number(slots)}: rate or latency is not of this run"
    elif r.closed and most.below > IDLE:
        yield "connections-idle", f"{sum_}, of {number(slots)} that a closed loop keeps: the load was not as stated"


def _mark(p: float) -> str:
    return f"p{round(100 * p, 4):g}"


def _percentiles(r: PublishedResult) -> Iterator[tuple[str, str]]:
    marks = [(_mark(p), value) for p, value in sorted(r.percentiles.items())]
    for (low, a), (high, b) in pairwise(marks):
        if a > b:
            yield "percentiles-not-monotone", f"{low} is {seconds(a)}, above {high} with {seconds(b)}"
    if marks and r.min_s is not None and marks[0][1] + r.rounding(r.min_s) < r.min_s * (1 - ROUNDED):
        low, a = marks[0]
        yield "percentiles-not-monotone", f"{low} is {seconds(a)}, below the minimum of {seconds(r.min_s)}"
    if marks and r.max_s is not None and marks[-1][1] > r.max_s * (1 + ROUNDED) + r.rounding(r.max_s):
        low, a = marks[-1]
        yield "percentiles-not-monotone", f"{low} is {seconds(a)}, above the maximum with {seconds(r.max_s)}"
    if r.mean_of_all:
        return
    if r.mean_s and r.percentiles.get(0.99) == r.mean_s:
        yield "percentile-is-mean", f"p99 equals the mean, {seconds(r.mean_s)}, to the last digit: it is a copy of it"
    if r.mean_s and r.min_s is not None and r.mean_s + _mean_off(r) < r.min_s * (1 - ROUNDED):
        yield "percentiles-not-monotone", f"the mean is {seconds(r.mean_s)}, below the minimum of {seconds(r.min_s)}"
    if r.mean_s and r.max_s is not None and r.mean_s > r.max_s * (1 + ROUNDED) + _mean_off(r):
        yield "percentiles-not-monotone", f"the mean is {seconds(r.mean_s)}, above the maximum of {seconds(r.max_s)}"


def _mean_off(r: PublishedResult) -> float:
    """By how much rounding may have moved the mean against an extreme of the times."""
    return max(r.mean_step_s, r.step_s)


def _mean(r: PublishedResult) -> Iterator[tuple[str, str]]:
    """What the percentiles leave to the mean: who is above p99 takes at least as long as p99 says."""
    marks = sorted(r.percentiles.items())
    if not r.mean_s or r.mean_of_all or not marks or any(a > b for (_, a), (_, b) in pairwise(marks)):
        return
    ends = [*(p for p, _ in marks), 1.0]
    lows = [max(0.0, value - r.rounding(value)) for _, value in marks]
    least = sum((after - p) * value for (p, _), value, after in zip(marks, lows, ends[1:], strict=True))
    if least > r.mean_s * (1 + ROUNDING):
        yield (
            "mean-unlike-percentiles",
            f"the mean is {seconds(r.mean_s)}, and by its percentiles, {_listed(marks)}, it is at least "
            f"{seconds(least)}: they are not of one run, or not in one unit",
        )
    if r.max_s is None or r.mean_s > r.max_s:
        return
    values = [*(value + r.rounding(value) for _, value in marks), r.max_s + r.rounding(r.max_s)]
    most = sum((p - before) * value for before, p, value in zip([0.0, *ends], ends, values, strict=False))
    if r.mean_s > most * (1 + ROUNDING):
        yield (
            "mean-unlike-percentiles",
            f"the mean is {seconds(r.mean_s)}, and by its percentiles, {_listed(marks)}, and its maximum it is "
            f"{seconds(most)} at the most: they are not of one run, or not in one unit",
        )


def _listed(marks: list[tuple[float, float]]) -> str:
    return ", ".join(f"{_mark(p)} {seconds(value)}" for p, value in marks)


def _errors(r: PublishedResult) -> Iterator[tuple[str, str]]:
    if r.unanswered:
        yield (
            "unanswered-not-in-throughput",
            f"{number(r.unanswered)} requests got no response; neither rate nor latency shows them",
        )
    if r.rate == 0 or r.answered == 0:
        yield "nothing-answered", "not one response is counted as right: there is nothing to rank"
    if r.checks and r.checks[0]:
        failed, made = r.checks
        yield (
            "checks-failed",
            f"{number(failed)} of the {number(made)} checks of the tool's script failed ({share(failed / made)}): "
            "responses that are not what was asked for are in the count that is ranked",
        )
    if not r.errors:
        return
    asked = max(r.errors, r.answered or 0) if r.errors_in_rate else r.errors + (r.answered or 0)
    words = f"{number(r.errors)} errors to {number(asked)} requests ({share(r.errors / asked)})"
    if r.errors_in_rate:
        yield "errors-in-throughput", f"{words}; the ranked count does not leave them out"
    else:
        yield "errors-not-in-throughput", f"{words}; the rank does not show them"


def _part_of_the_run(r: PublishedResult) -> Iterator[tuple[str, str]]:
    """The last second, or another part, instead of the run."""
    if r.rate and r.duration_s and r.answered is not None and not r.errors:
        expected = r.rate * r.duration_s
        if abs(r.answered - expected) > COUNT * max(r.answered, expected) + r.answered_off:
            yield (
                "rate-unlike-count",
                f"{number(r.rate)}/s over {seconds(r.duration_s)} is {number(expected)} responses, and "
                f"{number(r.answered)} were counted: the rate is not of the whole run, or its length is another",
            )
    if r.cpus and r.cpu_s and r.duration_s:
        counted = r.cpu_s / r.duration_s
        if abs(r.cpus - counted) > CPU * max(r.cpus, counted):
            yield (
                "cpu-sampled-late",
                f"{number(r.cpus)} CPUs as sampled, {number(counted)} as counted over the run: a moment, not the run",
            )
    if r.window_s is not None and r.duration_s and abs(r.window_s - r.duration_s) > max(2.0, COUNT * r.duration_s):
        yield (
            "window-unlike-duration",
            f"the window lasted {seconds(r.window_s)}, and the rate is over {seconds(r.duration_s)}",
        )


def _offered(r: PublishedResult) -> Iterator[tuple[str, str]]:
    """Whether the offered rate was answered; quick refusals count, since errors have their own checks."""
    if not r.offered or r.rate is None:
        return
    refused = 0.0 if r.errors_in_rate or not r.errors or not r.answered else r.errors / r.answered
    if r.rate * (1 + refused) < r.offered * REACHED:
        reached = f"{number(r.rate)}/s of {number(r.offered)}/s offered"
        yield "rate-not-reached", f"{reached}: its latencies are those of an overload and compare with none"
