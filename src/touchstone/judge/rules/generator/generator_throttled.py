"""Rule: a CPU quota held the load generator back."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import generator_throttled
from touchstone.judge.rule import SampleRule
from touchstone.record.generator import THROTTLED
from touchstone.record.sample import Sample

INVALID_SHARE = 0.1


class GeneratorThrottled(SampleRule):
    """A generator that has used up its quota sends and reads nothing until the next period begins.

    That looks like a generator with too few CPUs: it sends late and waits. More CPUs do not help it; a larger quota
    does.
    """

    code = "generator-throttled"
    severity = Severity.SUSPECT
    title = "A CPU quota held the load generator back"
    threshold = (
        "the quotas of the engine's cgroup, and of those above, kept it off the CPU for more than 1 % of the window; "
        "invalid above 10 %"
    )
    threshold_reason = (
        "a period is 100 ms, so at 1 % about one period in ten of a ten-second window was cut short, which is seen at "
        "p99; at 10 % the rate is the quota's"
    )
    next_step = (
        "Raise or remove the CPU quota of the container, service or slice that the lab runs in; `touchstone doctor` "
        "shows it. More CPUs do not help."
    )
    explains_others = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or (throttled := generator_throttled(result)) <= THROTTLED:
            return
        generator, measured_s = result.generator, result.window.measured_s
        groups = " and ".join(generator.quotas) or "its cgroup"
        yield self.finding(
            f"the generator was throttled for {seconds(generator.throttled_s)} of {seconds(measured_s)}, summed over "
            f"CPUs, by the quota of {groups}",
            severity=Severity.INVALID if throttled > INVALID_SHARE else Severity.SUSPECT,
            sample=sample,
            figures=SPEED,
            evidence={"throttled_s": generator.throttled_s, "measured_s": measured_s, "cgroups": generator.quotas},
        )
