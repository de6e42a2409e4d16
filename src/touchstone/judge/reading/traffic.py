"""What the engine's result says of the traffic, as the rules need it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from typing import Any, TypeGuard

from touchstone.record.engine import FirstError, LoadResult, Point
from touchstone.record.sample import Sample
from touchstone.vocabulary.limits import ANSWERED, DEVIATIONS, SERVER_FULL

SHOWN = 3
"""Errors of each class that a finding shows; the sample on disk holds up to twenty."""


def error_share(result: LoadResult) -> float:
    """The share of the requests sent that were wrong or failed; connections are none."""
    return result.counts.error_share


def answered_in_all(result: LoadResult) -> int:
    """Requests answered by the whole job, warm-up included. Its connections are counted over the whole job.

    Those of the window alone where the record does not say more.
    """
    return max(result.totals.completed, result.counts.completed)


def first_errors(result: LoadResult, *classes: str) -> list[dict[str, Any]]:
    """The first errors of each class, or of the classes named, as evidence."""
    shown: Counter[str] = Counter()
    found = []
    for error in result.first_errors:
        shown[error.class_] += 1
        if shown[error.class_] <= SHOWN and (not classes or error.class_ in classes):
            found.append(_shown(error))
    return found


def _shown(error: FirstError) -> dict[str, Any]:
    return error.model_dump(by_alias=True)


def pauses(sample: Sample) -> bool:
    """Whether connections rest between two requests, because their users think."""
    return any(step.get("think_s") for step in sample.spec.stated_requests)


def loop(sample: Sample) -> str:
    """closed, open, steps or ramp."""
    return sample.spec.loop or "closed"


def slots(sample: Sample) -> int:
    """How many requests can be in flight at once: connections times pipelining depth, or streams."""
    assert sample.result is not None
    connections = sample.result.connections.established or sample.spec.connections or 0
    return connections * sample.spec.pipeline * sample.spec.streams


def asked_connections(sample: Sample) -> int:
    """Connections as the load states them."""
    result = sample.result
    return (result.connections.asked if result else 0) or sample.spec.connections or 0


def keeps_up(result: LoadResult, offered: float) -> bool:
    """Whether all that was due in the window's second half came, and was answered in it.

    A wrong answer is an answer here: other rules name it. The engine, which looks for the highest rate, counts right
    answers alone (`engine/load/src/self_check.rs`). By chance the number in flight differs by its root, and so does
    that of random arrivals.
    """
    points = measured_points(result)
    half = len(points) // 2
    if not half or result.latency is None or result.latency.mean is None:
        return False
    second, due = points[half:], offered * (points[-1].t - points[half - 1].t)
    came = sum(point.sent for point in second) + second[-1].queue - points[half - 1].queue
    answered = sum(point.ok + point.errors for point in second)
    if came < ANSWERED * due - DEVIATIONS * math.sqrt(due):
        return False
    return answered >= ANSWERED * came - 2 * math.sqrt(offered * result.latency.mean)


def measured_points(result: LoadResult) -> list[Point]:
    """The series within the measured window."""
    return [p for p in result.series if p.phase == "load"]


def server_busy(sample: Sample) -> float | None:
    """The server's CPU time divided by the possible one: of its CPUs, or its threads if those are fewer.

    What others had of its CPUs in its slices it could not have used. None where its CPU time or its CPUs are not known.
    """
    result = sample.result
    if result is None or result.watch is None or result.watch.window.cpu_s is None:
        return None
    measured = result.window.measured_s
    if not measured or not sample.process.placement.server_cpus:
        return None
    threads = [p.threads for p in result.watch.series if p.threads and p.phase == "load"]
    lanes = min([len(sample.process.placement.server_cpus), *([max(threads)] if threads else [])])
    return result.watch.window.cpu_s / (measured * max(1, lanes) * _left_here(sample))


def has_cpu_to_spare(busy: float | None) -> TypeGuard[float]:
    """Whether a server that was busy for such a share is held back by something else. False where that is not known."""
    return busy is not None and busy < SERVER_FULL


def _left_here(sample: Sample) -> float:
    """The share of its own CPUs that others left it in the slices that count. All where the record does not say."""
    shares = [one.left_here for one in sample.counted_slices if one.left_here is not None]
    return statistics.fmean(shares) if shares else 1.0


def generator_busy(result: LoadResult) -> float:
    """The busiest thread of the engine, as a share of the window."""
    return max((t.busy for t in result.generator.threads), default=0.0)


def throttled_share(result: LoadResult) -> float:
    """The share of the window that CPU quotas held the generator, summed over CPUs."""
    return result.generator.throttled_s / result.window.measured_s if result.window.measured_s else 0.0


def lost_in_warm_up(result: LoadResult) -> int:
    """Warm-up requests that failed after the window began, or never got a response.

    The window's counts hold only requests that were due within it. The series holds every request of the job, so the
    surplus belongs to the warm-up.
    """
    begins = [0.0, *(p.t for p in result.series)]
    failed_later = sum(
        p.errors
        for begin, p in zip(begins, result.series, strict=False)
        # An interval that straddles the window's begin is left out.
        if p.phase != "warmup" and begin >= result.window.warmup_s - 1e-6
    )
    within = result.counts.not_right - result.counts.unanswered
    if result.is_of_older_engine:
        within += sum(count for _, count in result.connections.errors)
    sent, ok, failed = (
        sum(p.sent for p in result.series),
        sum(p.ok for p in result.series),
        sum(p.errors for p in result.series),
    )
    never = sent - ok - failed - result.counts.unanswered
    return max(0, failed_later - within) + max(0, never)
