"""Rule: some connections wait long, or are served slowly, while others are served."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from touchstone.judge.figures import TAIL
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import HeldUp, LoadResult
from touchstone.record.sample import Sample

PART = 0.02
LONG_S = 0.02
TIMES = 10
AFTER_S = 0.05
OFTEN = 0.5
LEAST_RESPONSES = 100
OF_P99 = 0.01


class ConnectionsWait(SampleRule):
    """A connection that is served slowly sends few requests in a closed loop, and so few that no percentile shows them.

    One worker of several that is stuck behind something holds a share of all users up, and p99 stays as it is.
    """

    code = "connections-wait"
    severity = Severity.SUSPECT
    title = "Some connections wait while others are served"
    threshold = (
        "closed loop: responses that took 20 ms and more, and 10 times their request's median and more, without the "
        "time in which no response came at all, make up more than 2 % of the connections' time; or in half of the "
        "slices and more one comes more than 50 ms after sending ended, and after more than 10 times the slice's p99; "
        "or some connections get less than half of the responses that the one in the middle gets, which is 100 and "
        "more; all beyond what the tare had; a note where p99 shows such responses, or where they fell on more than "
        "half of the connections"
    )
    threshold_reason = (
        "requests differ, and a busy machine holds a few of them up, but not for 2 % of the time; what is sent rarely "
        "because it is slow stays below the hundredth part that p99 begins with, however many users it concerns; what "
        "falls on most connections is no slow worker's, but what a busy machine or a pause brings now and then; a "
        "hundred responses and more to each even out by themselves, and half of the others' is beyond that"
    )
    next_step = (
        "Look at what the connections named have in common: one worker, thread or event loop of several. Measure the "
        "same with an open loop at a fixed rate, or with --whole-windows, which shows the far percentiles."
    )
    # A start under load makes connections wait by its nature.
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        if sample.result is None or loop(sample) != "closed":
            return
        yield from self._waits(sample, sample.result, case)
        yield from self._falls_behind(sample, sample.result, case)

    def _falls_behind(self, sample: Sample, result: LoadResult, case: Case) -> Iterator[Finding]:
        """Look at how many responses each connection got."""
        spread = result.by_connection
        if spread is None or spread.median < LEAST_RESPONSES or spread.behind <= _behind(case.tares(sample.load)):
            return
        verb = "are" if spread.behind != 1 else "is"
        yield self.finding(
            f"{spread.behind} of {result.connections.established} connections {verb} starved: the slowest received "
            f"{spread.fewest:,} responses, the median connection {spread.median:,} ({share(spread.share)} of all "
            "responses)",
            severity=Severity.NOTE if spread.share >= OF_P99 else Severity.SUSPECT,
            sample=sample,
            figures=TAIL,
            evidence=spread.model_dump(),
        )

    def _waits(self, sample: Sample, result: LoadResult, case: Case) -> Iterator[Finding]:
        """Look at responses that were long in coming."""
        if result.held_up is None or not result.held_up.answers:
            return
        tares = case.tares(sample.load)
        ends, part = _late(sample), _part(sample)
        late = _share(ends)
        waited = part - _median([_part(tare) for tare in tares]) > PART
        often = late - _median([_share(_late(tare)) for tare in tares]) >= OFTEN
        # A kind of request that always takes long ends slices late as well, and holds nobody up.
        if not waited and not (often and result.held_up.answers >= sum(ends)):
            return
        how = _how(result.held_up, part, late, waited=waited)
        yield self.finding(
            f"{_who(result, result.held_up)} while others are served: {how}",
            severity=Severity.NOTE if _shown(result) or _of_most(result, result.held_up) else Severity.SUSPECT,
            sample=sample,
            figures=TAIL,
            evidence=result.held_up.model_dump() | {"share_of_time": part, "slices_ending_late": late},
        )


def _behind(tares: Sequence[Sample]) -> float:
    """How many connections of the tare fall behind by themselves."""
    spreads = [tare.result.by_connection for tare in tares if tare.result is not None]
    return _median([float(spread.behind) for spread in spreads if spread is not None])


def _part(sample: Sample) -> float:
    """The share of the connections' time in which one waited long while others were served."""
    result = sample.result
    if result is None or result.held_up is None or not result.window.measured_s or not slots(sample):
        return 0.0
    return min(1.0, result.held_up.seconds / (slots(sample) * result.window.measured_s))


def _late(sample: Sample) -> list[bool]:
    """Of each slice whether its last response came long after those of all others."""
    slices = sample.slices.slices if sample.slices else []
    return [
        one.end - one.sending_end > max(AFTER_S, TIMES * one.latency.p99)
        for one in slices
        if one.lap_phase == "load" and one.latency is not None and one.latency.p99 is not None
    ]


def _share(parts: list[bool]) -> float:
    return sum(parts) / len(parts) if parts else 0.0


def _median(parts: list[float]) -> float:
    return statistics.median(parts) if parts else 0.0


def _shown(result: LoadResult) -> bool:
    """Whether p99 is that of such responses: they are no secret then."""
    p50, p99 = result.latency.p50, result.latency.p99
    return p50 is not None and p99 is not None and p99 >= max(LONG_S, TIMES * p50)


def _of_most(result: LoadResult, held: HeldUp) -> bool:
    """Whether it fell on more than half of the connections."""
    return held.connections is not None and held.connections > result.connections.established / 2


def _who(result: LoadResult, held: HeldUp) -> str:
    if held.connections is None:
        return "some connections wait"
    plural = held.connections != 1
    return f"{held.connections} of {result.connections.established} connections wait{'' if plural else 's'}"


def _how(held: HeldUp, part: float, late: float, *, waited: bool) -> str:
    longest = f"up to {seconds(held.longest_s)} for a response"
    if waited:
        return f"{longest}, {share(part)} of the time of all connections together"
    return f"{longest}, and in {share(late)} of the slices one still waits when all others have been answered"
