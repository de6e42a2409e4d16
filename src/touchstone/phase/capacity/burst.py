"""A burst beyond the capacity by clients that give up, and the recovery from it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from touchstone.engine.protocol import Step
from touchstone.manifest.load import Load
from touchstone.manifest.objective import Objective
from touchstone.phase.capacity.smallest_burst import HEIGHT
from touchstone.phase.capacity.trial import LEAD_S
from touchstone.record.distribution import Distribution
from touchstone.record.engine import LoadResult, Point
from touchstone.record.evidence.capacity import BurstEvidence, BurstMoment, BurstStep
from touchstone.traffic.recovery import recovery

FACTORS = (1.5, 2.0, 3.0)
"""The rates of the burst, as multiples of the capacity."""
BURST_INTERVAL_S = 0.05
"""Length of the intervals in which the recovery is looked for."""
_CALM = 0.7
"""The rate before and after the burst, as a share of the capacity: one that every service serves with ease."""
_CALM_STEPS = 4
"""The load after the burst lasts this number of trials: a service that has not recovered by then has a queue or a
state that a burst leaves behind."""
_MOST_CONNECTIONS = 4096
_MERGED = 4
"""Intervals that a part of the time line holds."""


def burst_load(load: Load, capacity: float, deadline_s: float, step_s: float) -> tuple[Load, list[Step]]:
    """The load of a burst and its steps, of which all but the last take `step_s`."""
    calm_before, calm_after = (_CALM, step_s), (_CALM, window_after(step_s))
    return load_of_steps(load, capacity, deadline_s, [calm_before, *((one, step_s) for one in FACTORS), calm_after])


def single_burst(
    load: Load, capacity: float, deadline_s: float, step_s: float, length_s: float
) -> tuple[Load, list[Step]]:
    """The load of a burst of `HEIGHT` that takes `length_s`, and its steps."""
    steps = [(_CALM, step_s), (HEIGHT, length_s), (_CALM, window_after(step_s))]
    return load_of_steps(load, capacity, deadline_s, steps)


def window_after(step_s: float) -> float:
    """The length of the load after a burst, in seconds."""
    return _CALM_STEPS * step_s


def load_of_steps(
    load: Load, capacity: float, deadline_s: float, wanted: Sequence[tuple[float, float]]
) -> tuple[Load, list[Step]]:
    """The load whose steps are multiples of the capacity, each with its seconds.

    There is a connection for each request that may be due within a deadline.
    """
    rates, seconds = [factor * capacity for factor, _ in wanted], [long for _, long in wanted]
    needed = math.ceil(max(rates) * deadline_s)
    changes = {
        "loop": "open",
        "rate": max(rates),
        "steps": None,
        "timeout_s": deadline_s,
        "repeat": False,
        "connections": max(load.connections, min(_MOST_CONNECTIONS, needed)),
    }
    steps: list[Step] = [{"rate": rate, "seconds": long} for rate, long in zip(rates, seconds, strict=True)]
    return load.model_copy(update=changes), steps


def read_burst(
    result: LoadResult, load: Load, capacity: float, objective: Objective, died: str | None
) -> BurstEvidence:
    """What the load of a burst says."""
    deadline_s = load.timeout_s
    steps = [
        BurstStep(
            factor=round(step.rate / capacity, 3),
            rate=step.rate,
            seconds=step.seconds,
            goodput=within(step.latency, deadline_s) / step.seconds,
            errors=step.errors,
        )
        for step in result.steps
    ]
    window = result.watch.window if result.watch else None
    bound_s = objective.latency.bound
    calm_from_s = sum(step.seconds for step in steps[:-1])
    return BurstEvidence(
        deadline_s=deadline_s,
        capacity=capacity,
        connections=load.connections,
        steps=steps,
        failures={name: count for name, count in result.counts.errors.model_dump().items() if count},
        statuses=result.counts.status,
        never_sent=result.counts.unsent or 0,
        rss_peak=(window.footprint_peak or window.rss_peak) if window else None,
        recovery_s=None if died else recovery(result.series, LEAD_S + calm_from_s, bound_s, BURST_INTERVAL_S),
        died=died,
        timeline=_timeline(result.series),
    )


def _timeline(series: Sequence[Point]) -> list[BurstMoment]:
    """The intervals of a load, several as one. The client gives up at the deadline, so right responses are in time."""
    load = [point for point in series if point.phase == "load"]
    long = _MERGED * BURST_INTERVAL_S
    groups = [load[first : first + _MERGED] for first in range(0, len(load) - _MERGED + 1, _MERGED)]
    return [
        BurstMoment(
            t=round(group[-1].t - LEAD_S, 3),
            sent=sum(point.sent for point in group) / long,
            goodput=sum(point.ok for point in group) / long,
        )
        for group in groups
    ]


def within(latency: Distribution, deadline_s: float) -> float:
    """The number of requests that took no longer than a deadline, by the curve of quantiles."""
    if not latency.curve or not latency.count:
        return 0.0
    shares, values = zip(*latency.curve, strict=True)
    if deadline_s >= values[-1]:
        return float(latency.count)
    return latency.count * float(np.interp(deadline_s, values, shares, left=0.0))


def burst_figures(burst: BurstEvidence) -> dict[str, float]:
    """The figures of a burst.

    Goodput at twice the capacity is a share of the capacity; the time until recovery is in seconds.
    """
    goodput = burst.goodput_at(2.0)
    values = {
        "smallest_burst": burst.smallest.stays_s if burst.smallest else None,
        "goodput_2x": None if goodput is None else goodput / burst.capacity,
        "recovery_time": burst.recovery_s,
    }
    return {} if burst.void else {name: value for name, value in values.items() if value is not None}


def burst_absences(burst: BurstEvidence) -> dict[str, str]:
    """The figures that a burst does not have, each with the reason."""
    if burst.void:
        return dict.fromkeys(("goodput_2x", "recovery_time"), burst.void)
    if burst.died:
        return {"recovery_time": f"the server {burst.died}"}
    found = {}
    if burst.recovery_s is None:
        found["recovery_time"] = "it had not recovered when the load after it ended"
    if burst.smallest is not None and burst.smallest.stays_s is None:
        found["smallest_burst"] = (
            f"no burst of {burst.smallest.height:g} times its capacity for {burst.smallest.returns_s:g} s kept it down"
            if burst.smallest.returns_s
            else f"too few of the {burst.smallest.offered} bursts of the search could be judged"
        )
    return found
