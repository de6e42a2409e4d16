"""Rule: reading the clock is costly."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

NOTE_NS = 250
SUSPECT_NS = 1000


class ClockCostly(SampleRule):
    """Latencies are read from a clock, twice a request.

    A clock behind a system call or a device slows the engine.
    """

    code = "clock-costly"
    severity = Severity.SUSPECT
    title = "Reading the clock is costly"
    threshold = "a reading costs more than 1 microsecond: suspect; more than 250 nanoseconds: a note"
    threshold_reason = (
        "a clock in user space costs 20 to 60 ns, a system call from 200 ns, a device timer 1 microsecond and "
        "more; at 1 microsecond two readings are a third of an engine's CPU per request"
    )
    next_step = "Use the tsc clock source (`/sys/devices/system/clocksource`), or another machine."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        cost = result.generator.clock.cost_ns if result else None
        if result is None or cost is None or cost <= NOTE_NS:
            return
        yield self.finding(
            f"a reading of {result.generator.clock.source or 'the clock'} costs {number(cost)} ns",
            severity=Severity.SUSPECT if cost > SUSPECT_NS else Severity.NOTE,
            sample=sample,
            figures=SPEED,
            evidence=result.generator.clock.model_dump(),
        )
