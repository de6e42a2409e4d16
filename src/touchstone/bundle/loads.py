"""What a load's own numbers have in common: counts by status, request and slice, percentiles, rates, and figures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from touchstone.phase.load.figures import load_figures, sliced_figures
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.slices import Slice
from touchstone.record.sample import Sample

_EQUAL = 1e-6
"""Relative: sums of the same numbers in another order."""
_PERCENTILES = ("min", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99")
_CPU_SHORT = 0.5
"""The server's CPU in all slices is read a little apart from that of the window, and never by this factor."""


def load_contradictions(sample: Sample) -> Iterator[str]:
    """Everything in one load's sample that contradicts something else in it."""
    result = sample.result
    if result is None:
        return
    yield from _counts(result)
    yield from _latencies(result)
    if sample.slices is not None and sample.phase == "load":
        yield from _slices(result, [one for one in sample.slices.slices if one.lap_phase == "load"])
        yield from _totals(result, sample.slices.slices)
    if sample.phase == "load" and sample.failure is None:
        yield from _figures(sample, result)


def _counts(result: LoadResult) -> Iterator[str]:
    counts = result.counts
    if counts.sent != counts.ok + counts.wrong + counts.failed:
        yield f"{counts.sent} requests, of which {counts.ok} right, {counts.wrong} wrong and {counts.failed} failed"
    if counts.completed != counts.ok + counts.wrong:
        yield f"{counts.completed} responses, of which {counts.ok} right and {counts.wrong} wrong"
    if counts.status and sum(counts.status.values()) != counts.completed:
        yield f"{counts.completed} responses, and {sum(counts.status.values())} by status"
    for name in ("sent", "ok"):
        by_request = sum(getattr(one, name) for one in result.requests)
        if result.requests and by_request != getattr(counts, name):
            yield f"{name}: {getattr(counts, name)} requests, and {by_request} by request"
    if result.totals and result.totals.sent < counts.sent:
        yield f"{counts.sent} requests in the window, and {result.totals.sent} in all"


def _latencies(result: LoadResult) -> Iterator[str]:
    whole = result.latency
    values = [value for name in _PERCENTILES if (value := getattr(whole, name)) is not None]
    if any(lower > upper * (1 + 1e-3) for lower, upper in itertools.pairwise(values)):
        yield "its percentiles do not rise"
    if whole.count > result.counts.completed + result.counts.failed:
        yield f"{whole.count} latencies of {result.counts.completed} responses"
    for share, value in (0.5, whole.p50), (0.9, whole.p90), (0.99, whole.p99):
        below = [at for where, at in whole.curve if where <= share]
        above = [at for where, at in whole.curve if where >= share]
        if value is not None and below and above and not below[-1] * 0.998 <= value <= above[0] * 1.002:
            yield f"the {share:.0%} percentile is {value:.3g} s, and its curve says {below[-1]:.3g} to {above[0]:.3g} s"
    if len(result.requests) == 1 and result.requests[0].latency.count == whole.count:
        one = result.requests[0].latency
        if (one.p50, one.p99, one.histogram) != (whole.p50, whole.p99, whole.histogram):
            yield "the latencies of its one kind of request are not those of the load"


def _slices(result: LoadResult, slices: list[Slice]) -> Iterator[str]:
    """The window of a load in slices is its slices, one after the other."""
    for name in ("sent", "completed", "ok"):
        counted = sum(getattr(one, name) for one in slices)
        if counted != getattr(result.counts, name):
            yield f"{name}: {getattr(result.counts, name)} in the result, and {counted} in its slices"
    generations = [one.generations for one in slices if one.generations]
    seconds = sum(one.seconds for one in generations)
    if seconds > 0 and not _near(sum(one.responses for one in generations) / seconds, result.rate.achieved):
        yield "its rate is not that of its slices"
    for one in slices:
        if one.rate is not None and one.generations and one.generations.seconds > 0:
            if not _near(one.generations.responses / one.generations.seconds, one.rate):
                yield f"slice {one.index}: its rate is not that of its responses"
            if one.generations.responses > one.ok or one.generations.seconds > one.end - one.begin + 1e-3:
                yield f"slice {one.index}: more responses or seconds in whole generations than in the slice"
        if one.server_cpu_s is not None and one.server_cpu_s < 0:
            yield f"slice {one.index}: a negative time"
    latencies = [one.latency for one in slices if one.latency]
    if latencies and sum(one.count for one in latencies) != result.latency.count:
        yield f"{result.latency.count} latencies, and {sum(one.count for one in latencies)} in its slices"
    medians = [one.p50 for one in latencies if one.p50 is not None]
    median = result.latency.p50
    if medians and median is not None and not min(medians) * 0.99 <= median <= max(medians) * 1.01:
        yield "its median latency lies outside those of its slices"
    used = [one.server_cpu_s for one in slices if one.server_cpu_s is not None]
    window = result.watch.window.cpu_s if result.watch else None
    if window and used and window > 0.05 and not _CPU_SHORT <= sum(used) / window <= 1 / _CPU_SHORT:
        yield f"its server used {window:.3g} CPU seconds in the window, and {sum(used):.3g} in its slices"


def _totals(result: LoadResult, slices: list[Slice]) -> Iterator[str]:
    sent = sum(one.sent for one in slices)
    if result.totals and result.totals.sent and sent != result.totals.sent:
        yield f"{result.totals.sent} requests in all, and {sent} in its slices and their warm-up"


def _figures(sample: Sample, result: LoadResult) -> Iterator[str]:
    """Figures are taken from the result: the same result gives the same figures."""
    taken, _ = sliced_figures(result, sample.slices.slices) if sample.slices else load_figures(result)
    for name in sorted(sample.figures.keys() | taken.keys()):
        own, again = sample.figures.get(name), taken.get(name)
        if name == "throttled_share":
            continue
        if own is None or again is None or not _near(own, again):
            yield f"the figure {name} is {own}, and its evidence gives {again}"


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_EQUAL, abs_tol=1e-12)
