"""Rule: a contender works while others have the machine."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.rest import rest_of
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

NOTE = 0.02
SUSPECT = 0.05
ENDING_S = 0.25
"""CPU seconds in which any runtime can end."""


class WorksWhileOff(SampleRule):
    """Work that is put off until the load pauses (collections, flushes, compilation) is in nobody's slice.

    What is put off until the service ends is in no window either. In production there is no pause, and no end: the work
    would have been part of the requests' cost, and of their time.
    """

    code = "works-while-off"
    severity = Severity.SUSPECT
    title = "A contender worked while it should rest"
    threshold = (
        "CPU that a contender used in the slices of others, next to what its own requests used: above 5 % suspect, "
        "above 2 % a note, and no more than a note below 1 % of a CPU over these slices; those of a contender that has "
        "it do its work are left out; likewise CPU that it used from SIGTERM to its end, next to all that it had used "
        "until then, if it is more than 0.25 s"
    )
    threshold_reason = (
        "a runtime's timers and idle threads stay below 1 % of a CPU, which may be much next to a load that needs "
        "little, since the others' slices last several times as long; 5 % is the least difference that matters; a "
        "runtime ends in some tens of milliseconds of CPU, with hooks of a framework in less than 0.25 s"
    )
    next_step = (
        "Look at what runs in the background (collector, flusher, compiler), and measure longer slices: `--slice 1`."
    )
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        rest = rest_of(sample, case.run)
        if rest is not None and rest.put_off > NOTE:
            yield self._told(
                sample,
                rest.put_off,
                f"while others had the machine it used {share(rest.put_off)} of the CPU that its own requests used",
                severity=Severity.NOTE if rest.is_idle else self.severity,
                evidence={"at_work_s": rest.at_work, "at_rest_s": rest.at_rest, "rested_s": rest.rested_s},
            )
        used = sample.cpu_at_end
        if used is not None and used.before_s > 0 and used.ending_s > max(ENDING_S, NOTE * used.before_s):
            put_off = used.ending_s / used.before_s
            yield self._told(
                sample,
                put_off,
                f"once it was told to end it used {share(put_off)} of the CPU that it had used in all its life",
                severity=self.severity,
                evidence={"before_s": used.before_s, "ending_s": used.ending_s},
            )

    def _told(
        self, sample: Sample, put_off: float, says: str, *, severity: Severity, evidence: dict[str, float]
    ) -> Finding:
        return self.finding(
            says,
            severity=severity if put_off > SUSPECT else Severity.NOTE,
            sample=sample,
            figures=[*SPEED, *CPU],
            doubt=Doubt(slower=1 + put_off, reason="all of it may have been work for its own requests"),
            evidence=evidence,
        )
