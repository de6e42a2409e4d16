"""Rule: a stall that a closed loop hides."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import TAIL
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import loop, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import Silence
from touchstone.record.sample import Sample

PART = 0.02
MUCH = 0.10
NOTICED_S = 0.25
TIMES = 4
HEARD_S = 0.05
FEW = 4


class StallInClosedLoop(SampleRule):
    """While a server stalls, a closed loop sends nothing.

    The requests that users would have sent then are missing, and percentiles look better than they were.
    """

    code = "stall-in-closed-loop"
    severity = Severity.SUSPECT
    title = "A stall that a closed loop hides"
    threshold = (
        "closed loop: more than 2 % of the window without any response, in gaps of 50 ms and more that are also more "
        "than 4 times the median latency, beyond what the tare had of it and the time in them in which the generator "
        "waited for a CPU; with fewer than 4 requests under way at once, and a median above 12.5 ms, the longest gap "
        "alone; suspect where the longest of them took 250 ms or more, or all of them more than 10 %; a note below"
    )
    threshold_reason = (
        "a stall longer than the window's hundredth part belongs into p99 and is not in it; twice that is beyond what "
        "a window's edges bring about; pauses of a collector stay below 50 ms, or are shorter than what users notice, "
        "but of a tenth of the time all users notice something; a slow service answers in waves, with gaps as long "
        "as its median, and where few requests are under way one that takes longer is a gap by itself"
    )
    next_step = "Measure the same with an open loop at a fixed rate; its percentiles include the stall."
    # A start under load stalls by its nature.
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.silence is None or loop(sample) != "closed" or result.latency.p50 is None:
            return
        longest = result.silence.longest_s
        silent = _part(sample)
        part = silent - _usual(case, sample)
        if part <= PART or longest <= TIMES * result.latency.p50:
            return
        yield self.finding(
            f"for {share(silent)} of the window no response came at all, once for {seconds(longest)}, while p50 "
            f"is {seconds(result.latency.p50)}: the loop waited with it",
            severity=Severity.SUSPECT if longest >= NOTICED_S or part > MUCH else Severity.NOTE,
            sample=sample,
            figures=TAIL,
            evidence=result.silence.model_dump() | {"measured_s": result.window.measured_s},
        )


def _part(sample: Sample) -> float:
    """The share of the window without any response."""
    result = sample.result
    if result is None or result.silence is None or not result.window.measured_s:
        return 0.0
    silence, measured = result.silence, result.window.measured_s
    heard = _heard(silence, TIMES * (result.latency.p50 or 0.0), few=slots(sample) < FEW)
    deaf = 0.0
    if silence.deaf_s is None:
        # A generator that waits for a CPU hears nothing, whoever answers; when it waited is not known here.
        deaf = max((thread.delayed_s or 0.0 for thread in result.generator.threads), default=0.0)
    return min(1.0, max(0.0, heard - deaf) / measured)


def _heard(silence: Silence, least: float, *, few: bool) -> float:
    """The gaps that are longer than the service's own pace; where it is not known which are, the longest alone."""
    if least <= HEARD_S:
        return silence.seconds
    longer = 0.0 if few else next((seconds for length, seconds in silence.longer if length >= least), 0.0)
    return max(silence.longest_s, longer)


def _usual(case: Case, sample: Sample) -> float:
    """The share of the tares' windows: of those, the machine is the cause."""
    parts = [_part(tare) for tare in case.tares(sample.load)]
    return statistics.median(parts) if parts else 0.0
