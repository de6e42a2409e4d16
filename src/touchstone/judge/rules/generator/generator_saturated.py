"""Rule: the load generator was the bottleneck."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import generator_busy, generator_throttled, has_cpu_to_spare, server_busy
from touchstone.judge.rule import SampleRule
from touchstone.record.generator import THROTTLED
from touchstone.record.sample import Sample

BUSY = 0.95


class GeneratorSaturated(SampleRule):
    """With the generator's CPU full, the figures describe the generator.

    A server whose own CPUs are full as well is the limit itself, however busy the generator is: there is no finding
    then.
    """

    code = "generator-saturated"
    severity = Severity.INVALID
    title = "The load generator was saturated"
    threshold = (
        "a thread of the engine was busy for more than 95 % of the window while "
        "the server's CPUs were less than 90 % busy"
    )
    threshold_reason = (
        "a queue's wait grows as 1/(1 - use): at 95 % it is twenty service times, so latencies are mostly the "
        "generator's own; "
        "a server at 90 % could give at most a tenth more"
    )
    next_step = "Give the engine more CPUs or threads, or use an open loop at a rate that it can send."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Hold the engine's CPU against the server's."""
        result = sample.result
        if result is None:
            return
        busy, server = generator_busy(result), server_busy(sample)
        if busy > BUSY and has_cpu_to_spare(server) and generator_throttled(result) <= THROTTLED:
            yield self.finding(
                f"the engine was busy for {share(busy)} of the window, the server only for {share(server)}",
                sample=sample,
                figures=SPEED,
                evidence={"engine_busy": busy, "server_busy": server},
            )
