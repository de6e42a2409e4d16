"""Rule: a dependency was the bottleneck."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import dependency_use
from touchstone.judge.reading.traffic import loop
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

BUSY = 0.90


class DependencySaturated(SampleRule):
    """With the database or the downstream full, the figures are its own.

    A faster service in front of it would show nothing.
    """

    code = "dependency-saturated"
    severity = Severity.SUSPECT
    title = "A dependency was the bottleneck"
    threshold = (
        "a dependency of its own process busy for more than 90 % of its CPUs; or, where the load opened sessions at "
        "it, answered requests above 90 % of what it answers by itself"
    )
    threshold_reason = (
        "at 90 % use a queue is nine service times long and nearly all latency is the dependency's; nothing above "
        "the dependency's own rate can come through it"
    )
    next_step = (
        "Make the dependency faster or give it more CPUs; or state that the figure is of service and dependency "
        "together."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or not result.window.measured_s:
            return
        use = dependency_use(sample)
        for dependency in sample.dependencies:
            busy, used = None, use.cpu_s.get(dependency.name)
            if used is not None and dependency.cpus:
                busy = used / (use.elapsed_s * len(dependency.cpus))
            # A load that opened no session at it asked nothing of it.
            asked = dependency.ceiling is not None and dependency.sessions_peak != 0
            near = result.rate.achieved / dependency.ceiling if asked and dependency.ceiling else None
            evidence = {
                "cpu_s": used,
                "busy": busy,
                "ceiling": dependency.ceiling,
                "rate": result.rate.achieved,
            }
            if busy is not None and busy > BUSY:
                what = f"{dependency.name} was busy for {share(busy)} of its CPUs"
            elif near is not None and near > BUSY and loop(sample) != "open":
                what = f"{number(result.rate.achieved)}/s is {share(near)} of what {dependency.name} answers by itself"
            else:
                continue
            yield self.finding(what, sample=sample, figures=SPEED, evidence=evidence)
