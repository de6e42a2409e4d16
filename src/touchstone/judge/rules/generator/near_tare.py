"""Rule: the figure is close to what the generator can reach at all."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import NEAR_CEILING, generator_throttled, has_cpu_to_spare, loop, server_busy
from touchstone.judge.rule import SampleRule
from touchstone.judge.rules.generator.generator_throttled import GeneratorThrottled
from touchstone.record.generator import THROTTLED
from touchstone.record.sample import Sample


class NearTare(SampleRule):
    """The null server does nothing, so its rate is the ceiling of generator, kernel and machine.

    A contender close to it may be faster than can be seen.
    """

    code = "near-tare"
    severity = Severity.SUSPECT
    title = "The figure is close to what the generator can reach at all"
    threshold = "closed loop: throughput above 90 % of the median tare, while the server's CPUs are less than 90 % busy"
    threshold_reason = (
        "within a tenth of the ceiling differences of the margin's size are pressed together; a server whose own "
        "CPUs are full is its own limit, however close it comes, and what others had of them it could not use; in "
        "neighbouring slices the ceiling is the same for both: which one is faster is known, by how much more is not"
    )
    next_step = (
        "Give the engine more CPUs, or make the server the bottleneck (fewer CPUs for it), and compare CPU a "
        "request instead."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        tare = case.ceiling(sample.load)
        if result is None or not tare or loop(sample) != "closed":
            return
        busy = server_busy(sample)
        if not has_cpu_to_spare(busy) or result.rate.achieved <= NEAR_CEILING * tare:
            return
        yield self.finding(
            f"{number(result.rate.achieved)}/s is {share(result.rate.achieved / tare)} of the tare "
            f"({number(tare)}/s), "
            f"and the server was busy for {share(busy)}",
            sample=sample,
            figures=SPEED,
            doubt=Doubt(faster=None, presses=True, reason="with a quicker generator it may answer any number"),
            next_step=GeneratorThrottled.next_step if generator_throttled(result) > THROTTLED else None,
            evidence={"rate": result.rate.achieved, "tare": tare, "server_busy": busy},
        )
