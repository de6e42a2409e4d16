"""Rules on consistency: records that contradict themselves."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from touchstone.judge.figures import LATENCY, SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, quantity, seconds, share, size
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import answered_in_all, loop, pauses, slots
from touchstone.judge.rule import Fired, on_sample
from touchstone.judge.statistics.littles_law import OFF, requests_in_flight
from touchstone.record.boot_result import START_FIGURES
from touchstone.record.distribution import Distribution
from touchstone.record.engine import LoadResult
from touchstone.record.memory import peak_memory
from touchstone.record.sample import Sample
from touchstone.vocabulary.figure import FIGURES

_PLACEHOLDER = re.compile(r"\{(counter|random|thread|fresh)\}")
_OF_ANY_LENGTH = re.compile(r"\{(row\.|capture\.|brace|key:|.\*)", re.DOTALL)
_BYTES_UNLIKE_BODIES_LONGEST = 20
"""Digits of the largest 64-bit counter; the other placeholders are shorter."""


@on_sample(
    "bytes-unlike-bodies",
    Severity.INVALID,
    title="The bytes received do not match the expected bodies",
    threshold=(
        "the bytes received are fewer than the total length of the expected bodies. Bodies of responses that were in "
        "progress when the window or a slice began are not included. The rule also fires if every body is stated "
        "exactly, none was wrong, and the mean body length is outside the range that the templates can produce"
    ),
    threshold_reason="the length of an exactly stated body is known, except for the digits of a counter (20 at most)",
    next_step=(
        "Look at a raw response (`curl -i`). If its body is right, touchstone has counted wrongly: report it with the "
        "record."
    ),
    own_failure=True,
)
def bytes_unlike_bodies(sample: Sample, case: Case) -> Iterator[Fired]:
    """The number of bytes received checks the responses in a second way. An error page or half a body changes it."""
    result = sample.result
    if result is None or not result.counts.ok:
        return
    mean = result.bytes.body / result.counts.ok
    evidence: dict[str, Any] = {"bytes": result.bytes.model_dump(), "body_mean": mean, "ok": result.counts.ok}
    # A response in progress when a window or slice begins has its whole body in it, and only part of its bytes.
    begun = slots(sample) * max(1, len(sample.counted_slices)) / result.counts.ok
    if 0 < result.bytes.received < result.bytes.body * (1 - begun):
        yield Fired(
            f"{size(result.bytes.received)} were received in total, less than the bodies alone "
            f"({size(result.bytes.body)})",
            evidence=evidence,
        )
        return
    lengths = _lengths(sample.spec.requests)
    if lengths is None or result.counts.not_right:
        return
    low, high = lengths
    # Answers that came after the window's end may be counted on one side only.
    edge = slots(sample) / result.counts.ok
    if not low * (1 - edge) - 0.5 <= mean <= high * (1 + edge) + 0.5:
        yield Fired(
            f"received bodies have {number(mean)} bytes on average, but a correct body has {low} to {high} bytes",
            evidence=evidence | {"expected": [low, high]},
        )


def _lengths(requests: Sequence[dict[str, Any]]) -> tuple[int, int] | None:
    """The shortest and the longest right body of the mix. None if any is not stated exactly."""
    low, high = [], []
    for request in requests:
        text = (request.get("expect") or {}).get("body")
        # The message of a gRPC call is stated in JSON, and its bytes are the schema's.
        if text is None or request.get("method") == "HEAD" or request.get("grpc"):
            return None
        if "{{" in text:  # a record from when braces were doubled
            text = text.replace("{{", "{").replace("}}", "}")
        if _OF_ANY_LENGTH.search(text):
            return None
        bare = len(_PLACEHOLDER.sub("", text).encode())
        low.append(bare)
        high.append(bare + _BYTES_UNLIKE_BODIES_LONGEST * len(_PLACEHOLDER.findall(text)))
    return (min(low), max(high)) if low else None


_COUNTS_CONTRADICT_RATE = 0.02
_COUNTS_CONTRADICT_SUM = 0.01


@on_sample(
    "counts-contradict",
    Severity.INVALID,
    title="Counts and rates contradict each other",
    threshold=(
        "one of three is true. (1) In a closed loop, the rate differs by more than 2 % from the number of right "
        "responses divided by the window's length. (In slices, only complete generations count: each connection has "
        "got one response.) (2) Right, wrong and failed requests do not add up to the requests sent (in older "
        "records: within 1 %). (3) There are fewer latencies than right responses, and the difference is larger than "
        "the number of requests in progress at the window's start and end"
    ),
    threshold_reason=(
        "counts are exact. The rate and the number of latencies are exact except for requests in progress when the "
        "window begins or ends"
    ),
    next_step="The record contradicts itself. Measure again, and if it happens again, report it with the record.",
    tares_too=True,
)
def counts_contradict(sample: Sample, case: Case) -> Iterator[Fired]:
    """A rate is a count divided by a time.

    Every request ends in exactly one way.

    If counts and rates do not agree, the engine or the record has an error.
    """
    result = sample.result
    if result is None or not result.counts.sent or not result.window.measured_s:
        return
    counts, edge = result.counts, 2 * slots(sample)
    problems: dict[str, str] = {}
    # First generations of slices have no latencies, and none is in flight at the edges of whole ones.
    whole = sample.slices is None
    responses, took_s = _timed(sample, result)
    rate = responses / took_s if took_s > 0 else result.rate.achieved
    slack = (edge / took_s if whole else 0.0) + _COUNTS_CONTRADICT_RATE * max(rate, result.rate.achieved)
    if loop(sample) == "closed" and abs(rate - result.rate.achieved) > slack:
        problems["rate"] = (
            f"{number(responses)} correct responses in {seconds(took_s)} make {number(rate)}/s, "
            f"but the recorded rate is {number(result.rate.achieved)}/s"
        )
    ended = counts.ok + counts.not_right
    # In older records a timeout may be among the unanswered too, and malformed bytes may be of no request.
    unsure = edge + _COUNTS_CONTRADICT_SUM * counts.sent + counts.errors.timeout if result.is_of_older_engine else 0
    if abs(counts.sent - ended) > unsure:
        problems["sum"] = f"{number(counts.sent)} requests were sent, but {number(ended)} outcomes were counted"
    if whole and counts.ok - result.latency.count > edge + _COUNTS_CONTRADICT_SUM * counts.ok:
        problems["latency"] = (
            f"{number(counts.ok)} requests got a correct response, but latencies were recorded for "
            f"{number(result.latency.count)}"
        )
    for statement in problems.values():
        yield Fired(
            statement,
            figures=["throughput", *LATENCY, "cpu_per_request", "error_share"],
            evidence={
                "counts": counts.model_dump(),
                "rate": result.rate.model_dump(),
                "latencies": result.latency.count,
            },
        )


def _timed(sample: Sample, result: LoadResult) -> tuple[int, float]:
    """The correct responses in a closed loop's rate, and the seconds in which they came."""
    if sample.slices is None:
        return result.counts.ok, result.window.measured_s
    counted = [one.generations for one in sample.counted_slices if one.generations]
    return sum(one.responses for one in counted), sum(one.seconds for one in counted)


_FIGURES_UNLIKE_EVIDENCE_OFF = 0.02
_LATENCIES = ("mean", "p50", "p90", "p95", "p99", "p99_9", "max")
_BOOTS = ("boot_rss", "boot_pss", "boot_anon", "boot_first_response")


@on_sample(
    "figures-unlike-evidence",
    Severity.INVALID,
    title="A figure does not match its evidence",
    threshold=(
        "a figure of rate, latency or memory differs by more than 2 % from the value in the engine's result or in the "
        "starts"
    ),
    threshold_reason="figures are copies or medians of these values. 2 % is more than any rounding",
    next_step="The figure was derived wrongly. Report it with the record.",
    phases=("load", "boot"),
    tares_too=True,
)
def figures_unlike_evidence(sample: Sample, case: Case) -> Iterator[Fired]:
    """The record may hold a wrong unit or another kind of memory.

    Each figure is compared with the raw data from which it was computed.
    """
    for figure, values in _evidence(sample).items():
        stated = sample.figures.get(figure)
        if stated is None or not values:
            continue
        low, high = min(values), max(values)
        if not low * (1 - _FIGURES_UNLIKE_EVIDENCE_OFF) <= stated <= high * (1 + _FIGURES_UNLIKE_EVIDENCE_OFF):
            found = quantity(figure, low) if low == high else f"{quantity(figure, low)} to {quantity(figure, high)}"
            yield Fired(
                f"{FIGURES[figure].title} is {quantity(figure, stated)} in the results, but its raw record says "
                f"{found}{_virtual(sample, stated)}",
                figures=[figure],
                evidence={"figure": figure, "stated": stated, "evidence": [low, high]},
            )


def _evidence(sample: Sample) -> dict[str, list[float]]:
    """The values in the raw record between which each figure must lie."""
    found: dict[str, list[float]] = {}
    if sample.result is not None:
        result = sample.result
        found["throughput"] = [result.rate.achieved]
        for name in _LATENCIES:
            value = getattr(result.latency, name)
            found[f"latency_{name}"] = [] if value is None else [value]
        if result.watch is not None:
            peak = peak_memory(result.watch)
            found["rss_peak"] = [] if peak is None else [float(peak)]
    runs = [r for r in (sample.boot.runs if sample.boot else []) if not r.failure]
    for figure in _BOOTS:
        found[figure] = [float(v) for r in runs if (v := getattr(r, START_FIGURES[figure])) is not None]
    return found


def _virtual(sample: Sample, stated: float) -> str:
    """Say so if the figure is virtual memory."""
    peaks = [r.vm_peak for r in (sample.boot.runs if sample.boot else []) if r.vm_peak]
    near = any(abs(stated / peak - 1) < _FIGURES_UNLIKE_EVIDENCE_OFF for peak in peaks)
    return ". The figure equals the peak of virtual memory" if near else ""


_LITTLES_LAW_INVALID = 0.25
_LITTLES_LAW_STALLED = 0.5
"""How long a slice's last responses may be awaited, in slices, before its whole generations say little of it."""
_IN_WHOLE = (
    "Some requests take longer than a slice: the server stalls, or an attempt to connect is repeated after a second. "
    "Look at the server's backlog and locks, and measure with `--whole-windows`, which counts such requests."
)


@on_sample(
    "littles-law",
    Severity.INVALID,
    title="Rate times mean latency does not match the concurrency",
    threshold=(
        "rate times mean latency differs from the concurrency by more than 10 %: suspect; by more than 25 %: "
        "invalid. Both limits are larger in short windows, because of requests that are in progress when the window "
        "begins or ends. They grow by a time divided by the window's length. If the product is too high, this is the "
        "time spent waiting for responses after the window. If it is too low, it is the sum of the longest latency, "
        "the engine's wait for a CPU, and steal. In slices, the rate of a closed loop counts complete generations "
        "only: each connection has got one response. A product that is too high is ignored if the sum of all "
        "latencies is no longer than the slices allow. If `connections-wait` fires on the same sample, it explains "
        "this finding, and this finding is not more severe"
    ),
    threshold_reason=(
        "the law is exact. The engine's own time between a response and the next request is below 10 % of the "
        "latency, unless the engine is saturated. A difference of 25 % means that a unit, a count or the concurrency "
        "is wrong"
    ),
    next_step=(
        "Check the units and the number of connections that were really held. If the product is too low, look at the "
        "load generator's CPU. Also look for requests that were sent before the window and answered after it: their "
        "latencies are missing."
    ),
)
def littles_law(sample: Sample, case: Case) -> Iterator[Fired]:
    """By Little's law (1961), rate times mean latency is the mean number of requests in progress.

    In a closed loop that is the number of connections. In an open loop, or with users who pause, it can be lower but
    never higher.
    """
    result = sample.result
    if result is None or not result.window.measured_s or not result.latency.count:
        return
    open_loop = loop(sample) != "closed"
    # In an open loop latency also counts the wait for a free connection, which is not part of the service.
    mean = result.service.mean if open_loop else result.latency.mean
    n = slots(sample)
    if mean is None or n == 0:
        return
    measured = result.window.measured_s
    rate = _rate(sample, result)
    connecting = (result.connect.mean or 0.0) if result.connections.reconnects else 0.0
    reconnects = result.connections.reconnects / max(1, answered_in_all(result))
    held = requests_in_flight(rate, mean, n)
    busy = requests_in_flight(rate, mean + connecting * min(1.0, reconnects), n)
    longest = max(mean, result.latency.max or 0.0)
    # What began within the window may end after it, by no more than answers were then waited for; what began
    # before it and ended within is missing, by no more than the longest took.
    after, before = min(longest, max(mean, result.window.drain_s)), longest
    # While the engine waits for a CPU, an answer that is there is not followed by the next request.
    before += max((thread.delayed_s or 0.0 for thread in result.generator.threads), default=0.0)
    before += result.machine.steal_s or 0.0
    over = min(held.above, _most_above(sample, mean, n))
    under = 0.0 if open_loop or pauses(sample) else busy.below
    off, slack = max((over, after), (under, before), key=lambda side: side[0] - side[1] / measured)
    slack /= measured
    if off <= OFF + slack:
        return
    awaited = _awaited(sample) if off == over else 0.0
    yield Fired(
        f"{number(rate)}/s times a mean latency of {seconds(mean)} makes {number(held.requests)} requests in flight, "
        f"but the load has {'at most' if open_loop or pauses(sample) else 'exactly'} {n} ({share(off)} off)"
        + (
            f". The rate does not include up to {seconds(awaited)} after each slice, spent awaiting responses"
            if awaited
            else ""
        ),
        next_step=_IN_WHOLE if awaited else None,
        severity=Severity.INVALID if off > _LITTLES_LAW_INVALID + slack else Severity.SUSPECT,
        figures=SPEED,
        evidence={"rate": rate, "mean_s": mean, "under_way": held.requests, "slots": n, "off": off, "slack": slack},
    )


def _most_above(sample: Sample, mean: float, n: int) -> float:
    """How far requests in flight exceed the possible number over all slices. Infinite for a window.

    The rate is that of whole generations, which leave out a slice's last responses: where a quota or a full machine
    holds these up, the rate is of less time than the latencies are. All latencies lie within the slices.
    """
    laps = sample.counted_slices
    took_s = sum(one.end - one.begin for one in laps)
    if not took_s or loop(sample) != "closed":
        return math.inf
    return requests_in_flight(sum(one.latency.count for one in laps if one.latency) / took_s, mean, n).above


def _awaited(sample: Sample) -> float:
    """For how long at most responses were awaited after a slice had stopped sending, in seconds. 0 if that is usual."""
    longest = max((one.end - one.sending_end for one in sample.counted_slices), default=0.0)
    return longest if sample.slices and longest > _LITTLES_LAW_STALLED * sample.slices.slice_s else 0.0


def _rate(sample: Sample, result: LoadResult) -> float:
    """Requests per second of those whose latencies are in the record.

    The latencies of a turn leave out its first generation of requests, which may be a good part of a slow service's
    turn; so the rate is then that of whole generations.
    """
    if sample.slices is not None and loop(sample) == "closed":
        return result.rate.achieved
    return result.latency.count / result.window.measured_s


_PERCENTILES_NOT_MONOTONE_ROUNDING = 0.01
_CALLED = {"service": "service time", "connect": "connect time"}
_PERCENTILES_NOT_MONOTONE_ORDER = ("min", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max")


@on_sample(
    "percentiles-not-monotone",
    Severity.INVALID,
    title="Percentiles contradict each other",
    threshold=(
        "one of four is true. (1) In the order min, p50, p75, ... max, a value is more than 1 % below the one before. "
        "(2) The mean is more than 1 % below min or above max. (3) The cumulative curve decreases by more than 1 %. "
        "(4) A value is negative"
    ),
    threshold_reason=(
        "a histogram of three significant digits rounds by up to 0.1 %, so 1 % is ten times the largest rounding error"
    ),
    next_step="The record contradicts itself. Measure again, and if it happens again, report it with the record.",
    tares_too=True,
)
def percentiles_not_monotone(sample: Sample, case: Case) -> Iterator[Fired]:
    """A higher percentile cannot be smaller than a lower one. If it is, the record has mixed up columns or units."""
    result = sample.result
    if result is None:
        return
    for name in ("latency", "service", "connect", "lateness"):
        wrong = _contradiction(getattr(result, name))
        if wrong:
            yield Fired(
                f"the percentiles of the {_CALLED.get(name, name)} contradict each other: {wrong}",
                figures=LATENCY if name in ("latency", "service") else [],
                evidence={name: getattr(result, name).model_dump(exclude={"histogram"})},
            )


def _contradiction(d: Distribution) -> str | None:
    known = [(name, value) for name in _PERCENTILES_NOT_MONOTONE_ORDER if (value := getattr(d, name)) is not None]
    if not d.count or not known:
        return None
    for (a, low), (b, high) in itertools.pairwise(known):
        if low < 0 or high < low * (1 - _PERCENTILES_NOT_MONOTONE_ROUNDING):
            return f"{a} is {seconds(low)} and {b} is {seconds(high)}"
    if d.mean is not None:
        low, high = d.min or 0.0, d.max if d.max is not None else d.mean
        if (
            not low * (1 - _PERCENTILES_NOT_MONOTONE_ROUNDING)
            <= d.mean
            <= high * (1 + _PERCENTILES_NOT_MONOTONE_ROUNDING)
        ):
            return f"the mean is {seconds(d.mean)}, outside the range {seconds(low)} to {seconds(high)}"
    for (q, low), (r, high) in zip(d.curve, d.curve[1:], strict=False):
        if r < q or high < low * (1 - _PERCENTILES_NOT_MONOTONE_ROUNDING):
            return f"the distribution falls from {seconds(low)} at {q:g} to {seconds(high)} at {r:g}"
    return None
