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


class WorksWhileOff(SampleRule):
    """Work that is put off until the load pauses (collections, flushes, compilation) is in nobody's slice.

    In production there is no pause: the work would have been part of the requests' cost, and of their time.
    """

    code = "works-while-off"
    severity = Severity.SUSPECT
    title = "A contender worked while it should rest"
    threshold = (
        "CPU that a contender used in the slices of others, next to what its own requests used: above 5 % suspect, "
        "above 2 % a note, and no more than a note below 1 % of a CPU over these slices; those of a contender that has "
        "it do its work are left out"
    )
    threshold_reason = (
        "a runtime's timers and idle threads stay below 1 % of a CPU, which may be much next to a load that needs "
        "little, since the others' slices last several times as long; 5 % is the least difference that matters"
    )
    next_step = (
        "Look at what runs in the background (collector, flusher, compiler), and measure longer slices: `--slice 1`."
    )
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        rest = rest_of(sample, case.run)
        if rest is None or rest.put_off <= NOTE:
            return
        suspect = rest.put_off > SUSPECT and not rest.is_idle
        yield self.finding(
            f"while others had the machine it used {share(rest.put_off)} of the CPU that its own requests used",
            severity=Severity.SUSPECT if suspect else Severity.NOTE,
            sample=sample,
            figures=[*SPEED, *CPU],
            doubt=Doubt(slower=1 + rest.put_off, reason="all of it may have been work for its own requests"),
            evidence={"at_work_s": rest.at_work, "at_rest_s": rest.at_rest, "rested_s": rest.rested_s},
        )
