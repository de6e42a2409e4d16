"""Rule: requests left later than they were meant to."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import LATENCY, TAIL
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import generator_throttled, loop
from touchstone.judge.rule import SampleRule
from touchstone.record.generator import THROTTLED
from touchstone.record.sample import Sample

SHARE = 1 / 3
INVALID_SHARE = 1.0
LEAST_S = 0.001
INVALID_LEAST_S = 0.01


class LateSends(SampleRule):
    """What an engine was late to send is not in the latency of an open loop; what it was late to read is.

    Whoever is held up in sending is held up in reading alike, and then sends what is due in a bunch.
    """

    code = "late-sends"
    severity = Severity.SUSPECT
    title = "The generator sent late"
    threshold = (
        "open loop: lateness p99 above 1 ms and above a third of latency p99; invalid above 10 ms and above all of it"
    )
    threshold_reason = (
        "a pacing slot and a timer's wake-up cost up to a few hundred microseconds on any machine; beyond 1 ms the "
        "engine was held up, and past a third of the tail so may the reading be that makes it"
    )
    next_step = "Give the engine a CPU of its own, lower the rate, or end what else runs on its CPU."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Put lateness next to latency, which does not contain it."""
        result = sample.result
        if result is None or loop(sample) == "closed" or generator_throttled(result) > THROTTLED:
            return
        late, latency = result.lateness.p99, result.latency.p99
        if late is None or not latency or late <= LEAST_S or late <= SHARE * latency:
            return
        invalid = late > INVALID_LEAST_S and late > INVALID_SHARE * latency
        yield self.finding(
            f"one request in a hundred left {seconds(late)} late or more, next to a latency p99 of {seconds(latency)}",
            severity=Severity.INVALID if invalid else Severity.SUSPECT,
            sample=sample,
            figures=LATENCY if invalid else TAIL,
            evidence={
                "lateness_p99_s": late,
                "latency_p99_s": latency,
                "lateness_p50_s": result.lateness.p50,
            },
        )
