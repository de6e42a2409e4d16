"""Rule: the CPU changed its clock rate."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

NOTE = 0.05
SUSPECT = 0.10


class FrequencyChanged(SampleRule):
    """A CPU that slows down by heat or saves power makes the later contender the slower one."""

    code = "frequency-changed"
    severity = Severity.SUSPECT
    title = "The CPU changed its clock rate"
    threshold = (
        "the mean clock rate differs by more than 10 % between a sample's begin and end: suspect; by more than 5 "
        "%: a note"
    )
    threshold_reason = (
        "rates are read as snapshots that jitter by a few percent; 5 % is the least effect that matters by default"
    )
    next_step = "Set the governor to performance, fix the rate (`cpupower frequency-set`), and let the machine cool."
    phases = ("load", "boot", "build", "hold", "drain", "peak")

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        state = machine_state(sample)
        if not state.frequency_mhz_before or not state.frequency_mhz_after:
            return
        before, after = statistics.fmean(state.frequency_mhz_before), statistics.fmean(state.frequency_mhz_after)
        change = abs(after / before - 1) if before else 0.0
        if change > NOTE:
            yield self.finding(
                f"the clock rate went from {number(before)} to {number(after)} MHz",
                severity=Severity.SUSPECT if change > SUSPECT else Severity.NOTE,
                sample=sample,
                figures=[*SPEED, *CPU],
                evidence={"before_mhz": before, "after_mhz": after},
            )
