"""Rule: the downstream has little headroom."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.sessions import is_downstream
from touchstone.judge.rule import SampleRule
from touchstone.judge.rules.dependency.dependency_saturated import BUSY
from touchstone.record.sample import Sample

HEADROOM = 4.0
NARROW = 2.0


class DownstreamHeadroom(SampleRule):
    """A service that waits for a downstream shows its own speed only where the downstream has plenty left.

    An article measured its own Python server by two services in front of it.
    """

    code = "downstream-headroom"
    severity = Severity.SUSPECT
    title = "The downstream has little headroom"
    threshold = (
        "the downstream answers by itself less than twice what the contender asked of it; a note where it is less than "
        "four times; above 90 % of it, dependency-saturated says so instead"
    )
    threshold_reason = (
        "at half its capacity a queue doubles the time that the downstream takes, at a quarter it adds a third: "
        "the former is a figure of both, the latter is worth knowing"
    )
    next_step = (
        "Give the downstream more CPUs, or one that the engine does not share; or compare latencies at a lower rate."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.rate.achieved <= 0:
            return
        for dependency in sample.dependencies:
            if not is_downstream(dependency) or not dependency.ceiling:
                continue
            times = dependency.ceiling / result.rate.achieved
            if 1 / BUSY <= times < HEADROOM:
                yield self.finding(
                    f"{dependency.name} answers {number(dependency.ceiling)}/s by itself, {times:.1f} times the "
                    f"{number(result.rate.achieved)}/s of this load",
                    severity=Severity.SUSPECT if times < NARROW else Severity.NOTE,
                    sample=sample,
                    figures=SPEED,
                    doubt=Doubt(faster=None, reason="with a quicker downstream it may answer any number"),
                    evidence={"ceiling": dependency.ceiling, "rate": result.rate.achieved, "times": times},
                )
