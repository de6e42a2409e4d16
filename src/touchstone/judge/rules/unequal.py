"""Rules on unequal answers: contenders that differ where all should be alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from touchstone.judge.figures import CPU, LATENCY, SPEED
from touchstone.judge.judgement import PossibleBias, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.unequal_pair import UnequalPair, unequal_pairs
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample

_BODY_SHARE = 0.1
_BODY_BYTES = 16
_HEAD_BYTES = 128
_HEAD_BYTES_SUSPECT = 1024
_FAILED = 0.01
_POINTS = 0.02
_UNBOUNDED = 0.10
_CHANCE = 4.0
"""A difference within this many standard errors is taken for chance, as when requests are drawn from a mix."""


@on_sample(
    "media-type-varies",
    Severity.SUSPECT,
    title="Responses to one request have several media types",
    threshold=(
        "responses to one request with one status have more than one media type, or some have one and some have none"
    ),
    threshold_reason="equal requests should get equal kinds of response, so even one that differs has a cause",
    next_step=(
        "Decide which media type is right, and state it in the load's request: expect = { content_type = ... }. If "
        "all types are right, write one request for each type."
    ),
)
def media_type_varies(sample: Sample, case: Case) -> Iterator[Fired]:
    """A request that is answered in two media types runs two code paths.

    One of them may be cheaper.

    If a load states the media type, any other type is an error. This rule is for loads that do not state it.
    """
    for request in sample.result.requests if sample.result else []:
        for status in dict.fromkeys(one.status for one in request.media_types):
            found = [one for one in request.media_types if one.status == status]
            if len(found) < 2:
                continue
            types = ", ".join(f"{one.media_type or 'none'} ({number(one.responses)})" for one in found)
            yield Fired(
                f"the media type of {request.name}'s responses with status {status} varies: {types}",
                figures=["throughput", *LATENCY, *CPU],
                evidence={"request": request.name, "media_types": [one.model_dump() for one in found]},
            )


@on_run(
    "unequal-bodies",
    Severity.SUSPECT,
    title="Contenders answer with bodies of different length",
    threshold=(
        "the mean length of the bodies differs between contenders: the largest is more than a tenth and more than 16 "
        "bytes above the smallest. If most contenders agree, only those that differ are suspect"
    ),
    threshold_reason=(
        "under one contract, bodies differ only by the digits of a counter or an identifier. In a short body these "
        "may be more than a tenth, so 16 bytes are always allowed"
    ),
    next_step=(
        "Compare the responses of the two contenders named (`curl -i`), and make the contract state the exact body."
    ),
)
def unequal_bodies(case: Case) -> Iterator[Fired]:
    """A contender that sends twice as many bytes does different work. Or one of the two sends an error page."""
    for load in case.loads:
        means = _per_response(case, load, lambda result: result.bytes.body)
        for pair in unequal_pairs(
            means, lambda small, large: large > small * (1 + _BODY_SHARE) and large - small > _BODY_BYTES
        ):
            yield Fired(
                f"response bodies have {number(means[pair.high])} bytes on average from {pair.high}, and "
                f"{number(means[pair.low])} from {pair.low}",
                load=load,
                contender=pair.odd,
                figures=["throughput", *LATENCY, *CPU],
                evidence={"body_bytes": means},
            )


@on_run(
    "unequal-heads",
    Severity.SUSPECT,
    title="Contenders send different amounts of bytes around their bodies",
    threshold=(
        "the mean number of bytes per response beyond the body (status line, header fields, chunk sizes) differs "
        "between contenders. The largest is more than 1,024 bytes above the smallest: suspect; more than 128: a note. "
        "Rounds in which at least 1 % of the requests failed do not count. If most contenders agree, only those that "
        "differ are named"
    ),
    threshold_reason=(
        "the default fields of frameworks differ by about 100 bytes, which cost less than a microsecond. With 1,024 "
        "bytes more, a short response needs an additional packet"
    ),
    next_step=(
        "Compare the heads of the two contenders named (`curl -i`). Remove from one the fields that the other lacks."
    ),
)
def unequal_heads(case: Case) -> Iterator[Fired]:
    """A contract states the body but few header fields, and each field costs time.

    A contender without `Date` does less work than others. A contender with many tracing and security fields does more.
    """
    for load in case.loads:
        means = _per_response(case, load, lambda result: result.bytes.received - result.bytes.body, sound_only=True)
        for pair in unequal_pairs(means, lambda small, large: large - small > _HEAD_BYTES):
            more = means[pair.high] - means[pair.low]
            yield Fired(
                f"{pair.high} sends {number(means[pair.high])} bytes per response besides the body, {pair.low} "
                f"{number(means[pair.low])}",
                severity=Severity.SUSPECT if more > _HEAD_BYTES_SUSPECT else Severity.NOTE,
                load=load,
                contender=pair.odd,
                figures=[*SPEED, *CPU],
                evidence={"bytes_around_body": means},
            )


def _per_response(
    case: Case, load: str, size: Callable[[LoadResult], int], *, sound_only: bool = False
) -> dict[str, float]:
    """Mean bytes per response, by contender. `sound_only` leaves out rounds with 1 % failed requests."""
    means: dict[str, float] = {}
    for group in case.groups_of("load", load):
        results = [
            s.result
            for s in group.samples
            if s.result
            and s.result.counts.completed
            and not (sound_only and s.result.counts.not_right >= _FAILED * s.result.counts.completed)
        ]
        if results:
            answered = sum(result.counts.completed for result in results)
            means[group.contender] = sum(map(size, results)) / answered
    return means


@dataclass(frozen=True)
class StatusCount:
    """How many of a contender's answers have a status."""

    count: int
    total: int

    def __float__(self) -> float:
        """Their share."""
        return self.count / self.total


@on_run(
    "unequal-statuses",
    Severity.SUSPECT,
    title="Contenders answer with different statuses",
    threshold=(
        "the share of a status among the responses differs between two contenders by more than 2 percentage points, "
        "and by more than four standard errors of the difference. Up to 10 points, the finding states the possible "
        "bias of the throughput. If most contenders agree, only those that differ are suspect"
    ),
    threshold_reason=(
        "under one contract the same requests get the same statuses, except for the random choice of requests from a "
        "mix. 2 points change throughput by at most 2 %, even if a refusal costs nothing. Ten points change it by "
        "the margin, even if a refusal costs half as much as a response"
    ),
    next_step=(
        "Compare how many requests each contender refuses. Lower the load until none has to refuse, or compare only "
        "the requests that were served."
    ),
)
def unequal_statuses(case: Case) -> Iterator[Fired]:
    """Some statuses that the contract allows are cheap to send.

    A contender that refuses nine of ten requests does less work than one that serves them.
    """
    for load in case.loads:
        counted = _counted(case, load)
        named: set[str | None] = set()
        for status in sorted({status for counts in counted.values() for status in counts}):
            found = {name: StatusCount(counts[status], counts.total()) for name, counts in counted.items()}
            for pair in unequal_pairs(found, _differ):
                # A contender that refuses more serves less: one finding says both.
                if not named & {pair.odd, None}:
                    named.add(pair.odd)
                    yield _finding(pair, found, status, load, counted)


def _finding(
    pair: UnequalPair, found: Mapping[str, StatusCount], status: str, load: str, counted: Mapping[str, Counter[str]]
) -> Fired:
    low, high = float(found[pair.low]), float(found[pair.high])
    return Fired(
        f"{share(high)} of {pair.high}'s responses have status {status}, against {share(low)} of {pair.low}'s",
        load=load,
        contender=pair.odd,
        figures=["throughput", *LATENCY, *CPU],
        doubt=None if high - low > _UNBOUNDED else _doubt(pair, high - low, counted),
        evidence={"status": status, "shares": {name: float(answers) for name, answers in found.items()}},
    )


def _counted(case: Case, load: str) -> dict[str, Counter[str]]:
    """By contender how many of its answers have which status."""
    counted: dict[str, Counter[str]] = {}
    for group in case.groups_of("load", load):
        seen: Counter[str] = Counter()
        for sample in group.samples:
            seen.update(sample.result.counts.status if sample.result else {})
        if seen.total():
            counted[group.contender] = seen
    return counted


def _differ(low: StatusCount, high: StatusCount) -> bool:
    """Whether two shares differ by more than is allowed, and by more than chance explains."""
    pooled = (low.count + high.count) / (low.total + high.total)
    error = math.sqrt(pooled * (1 - pooled) * (1 / low.total + 1 / high.total))
    return float(high) - float(low) > max(_POINTS, _CHANCE * error)


def _doubt(pair: UnequalPair, difference: float, counted: Mapping[str, Counter[str]]) -> PossibleBias:
    """What other answers than its neighbour's can have saved a contender. If it serves more than others, cost it."""
    times = 1 / (1 - difference)
    other = pair.high if pair.odd == pair.low else pair.low
    if pair.odd is not None and _served(counted[pair.odd]) > _served(counted[other]):
        return PossibleBias(faster=times, reason="others save at most the whole cost of the requests that they refuse")
    return PossibleBias(slower=times, reason="a refused request cannot take less than no time")


def _served(counts: Counter[str]) -> float:
    """The share of answers whose status says success."""
    return sum(count for status, count in counts.items() if status.startswith("2")) / counts.total()
