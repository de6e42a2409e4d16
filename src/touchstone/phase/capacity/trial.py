"""One trial: a rate offered for a while in an open loop, and whether the objective held."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Literal

import numpy as np

from touchstone.engine.fail_if import failed_share, measured, shown
from touchstone.manifest.condition import ALL_TIMES
from touchstone.manifest.load import Load
from touchstone.manifest.objective import Objective
from touchstone.record.engine import LoadResult, Point
from touchstone.record.evidence.capacity import CapacityTrial
from touchstone.vocabulary.limits import GENERATOR_FULL, LATE_S, LATE_SHARE, SERVER_FULL, THROTTLED

LEAD_S = 0.3
"""Time before the measured part, in which connections open and the first requests meet a server at rest."""
LONGEST_S = 60.0
"""A trial is lengthened up to here so that it carries its percentiles; where that is not enough the rate is too low."""
_USUAL_LONGEST_S = 10.0
"""The longest trial of a service that is fast enough: the search need not go down to where a trial takes a minute."""
_SLOW = 20.0
"""A closed loop that reaches less than this many times a rate leaves that rate to be searched below, too."""
POINTS = 24
"""Intervals of the series: enough that thirds of a half of it show a trend and not a stall."""
_LEAST_POINTS = 12
_STREAMS = 3.0
"""Durations of a stream that a trial lasts: after one of them as many streams end as begin."""
GROWS = 0.01
"""A share of the offered requests by which those in the system grow. A server at its limit leaves all that comes beyond
it; one below it leaves none, whatever its latency is. A hundredth is what is left of noise in two seconds."""


def seconds_for(objective: Objective, rate: float, usual_s: float, stream_s: float = 0.0) -> float:
    """How long a trial at this rate must be so that its percentiles mean something.

    Where responses are streams that last `stream_s`, their number grows for that long in every trial. It must be steady
    in the second half.
    """
    return min(LONGEST_S, max(usual_s, objective.least_requests / rate, _STREAMS * stream_s))


def lowest_rate(objective: Objective, closed_rate: float = 0.0) -> float:
    """The lowest rate to search, in requests per second: a trial there carries the objective.

    `closed_rate` is what a closed loop reached; 0 gives the lowest rate that any trial can carry.
    """
    return max(
        objective.least_requests / LONGEST_S, min(closed_rate / _SLOW, objective.least_requests / _USUAL_LONGEST_S)
    )


def open_loop(load: Load, rate: float) -> Load:
    """The load with its own requests and connections, offered at a rate."""
    return load.model_copy(update={"loop": "open", "rate": rate, "steps": None})


def read_trial(
    result: LoadResult,
    objective: Objective,
    rate: float,
    lanes: float,
    purpose: Literal["search", "curve"],
) -> CapacityTrial:
    """What a load at a rate says. `lanes` is how many CPUs' time the server may use at most."""
    window = result.watch.window if result.watch else None
    threads = [p.threads for p in (result.watch.series if result.watch else []) if p.threads and p.phase == "load"]
    lanes = min(lanes, max(threads, default=lanes))
    cpu = window.cpu_s if window else None
    answered = result.counts.completed
    trial = CapacityTrial(
        rate=rate,
        seconds=result.window.measured_s,
        purpose=purpose,
        held=None,
        sent=result.counts.sent,
        achieved=result.rate.achieved,
        error_share=failed_share(result),
        latency={name: value for name in ALL_TIMES if (value := measured(result, name)) is not None},
        backlog=backlog(result.series, rate),
        cpu_per_request=cpu / answered if cpu is not None and answered else None,
        rss_peak=(window.footprint_peak or window.rss_peak) if window else None,
        server_busy=cpu / (result.window.measured_s * lanes) if cpu is not None and result.window.measured_s else None,
        generator_busy=max((thread.busy for thread in result.generator.threads), default=None),
        lateness_p99=result.lateness.p99,
        streams=result.events.open_most if result.events else None,
        other_cpus=_cpus(result.machine.other_cpu_s, result),
        stolen_cpus=_cpus(result.machine.steal_s, result),
    )
    broken = _broken(trial, result, objective)
    blamed = _generator(trial, result, refused=_refused(result, objective)) if broken else ""
    trial.held, trial.void = (None, "generator") if blamed else (not broken, None)
    trial.why = blamed or broken
    return trial


def _cpus(seconds: float | None, result: LoadResult) -> float | None:
    """How many CPUs a time of the watched window is on average."""
    elapsed = result.window.watched_s
    return seconds / elapsed if seconds is not None and elapsed else None


def backlog(series: Sequence[Point], rate: float) -> float | None:
    """By which share of the offered rate the requests in the system grow. None where there are too few points.

    The lesser of the growth over the whole trial and over its second half: a server that slows down as it fills takes
    several of its own latencies to settle, and until then holds more and more without being at its limit. One that is
    past its limit grows to the end.
    """
    points = [point for point in series if point.phase != "drain"]
    done = np.cumsum([point.ok + point.errors for point in points])
    inside = np.cumsum([point.sent for point in points]) - done + np.array([point.queue for point in points])
    counted = [(p.t, float(n)) for p, n in zip(points, inside, strict=True) if p.phase == "load"]
    if len(counted) < _LEAST_POINTS or rate <= 0:
        return None
    return min(_slope(counted), _slope(counted[len(counted) // 2 :])) / rate


def _slope(counted: Sequence[tuple[float, float]]) -> float:
    """Requests per second by the resistant line (Tukey 1977): medians of thirds, so that a stall at an end is none."""
    third = len(counted) // 3
    first, last = counted[:third], counted[-third:]
    span_s = median(t for t, _ in last) - median(t for t, _ in first)
    return (median(n for _, n in last) - median(n for _, n in first)) / span_s


def breach(result: LoadResult, objective: Objective) -> str:
    """Which bound of the objective a load broke, in words; empty if all held."""
    if not result.counts.ok:
        return "no request was answered correctly"
    for term in objective.terms:
        value = measured(result, term.quantity)
        if value is None or not term.holds(value):
            return f"{term.quantity} was {shown(term.quantity, math.nan if value is None else value)}"
    return ""


def _broken(trial: CapacityTrial, result: LoadResult, objective: Objective) -> str:
    """What broke the objective in a trial, a growing queue among it; empty if it held."""
    if broken_bound := breach(result, objective):
        return broken_bound
    if trial.backlog is not None and trial.backlog > GROWS:
        return f"the requests in the system grew by {trial.backlog:.1%} of those that came"
    return ""


def _refused(result: LoadResult, objective: Objective) -> bool:
    """Whether the wrong answers alone are more errors than the objective bears: each is the server's own doing."""
    share = result.counts.wrong / max(result.counts.completed, 1)
    return any(term.quantity == "errors" and not term.holds(share) for term in objective.terms)


def _generator(trial: CapacityTrial, result: LoadResult, *, refused: bool) -> str:
    """Why the generator, and not the server, may have broken the objective. Empty if it has not.

    The rules `generator-saturated` and `late-sends` have the same limits. Here the time in which a thread waited for a
    CPU counts as work: a thread that works or waits all the time is full, even if another process has its CPU. One
    that also rests gets everything done, and its waiting shows in late sends. Requests that were sent late have a
    longer latency, but are not refused because of it.
    """
    if trial.server_busy is not None and trial.server_busy >= SERVER_FULL:
        return ""
    seconds = max(result.window.measured_s, 1e-9)
    if (throttled_s := result.generator.throttled_s) > THROTTLED * seconds:
        return f"a CPU quota kept the engine from running for {throttled_s / seconds:.0%} of the time"
    full = max((thread.busy + (thread.delayed_s or 0.0) / seconds for thread in result.generator.threads), default=0.0)
    if full > GENERATOR_FULL:
        busy = trial.generator_busy or 0.0
        return f"the engine worked for {busy:.0%} of the time, and waited for a CPU for {max(0.0, full - busy):.0%}"
    if refused:
        return ""
    late, latency = result.lateness.p99 or 0.0, result.latency.p99 or 0.0
    if late > LATE_S and late > LATE_SHARE * latency:
        return f"the engine sent 1 % of the requests {late * 1e3:.1f} ms late or later"
    return ""
