"""Rule: other processes used the CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.disturbance import others_share
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import Machine
from touchstone.record.sample import Sample

NOTE = 0.05
SUSPECT = 0.10
_GREAT = 0.25
"""A process that used less of it is named only in the evidence."""


class OtherProcesses(SampleRule):
    """What else runs takes CPU, caches and memory bandwidth from server and engine."""

    code = "other-processes"
    severity = Severity.SUSPECT
    title = "Other processes used the CPUs"
    threshold = (
        "CPU of processes that are neither server, engine nor dependency: above 10 % of the machine suspect, "
        "above 5 % a note"
    )
    threshold_reason = (
        "an idle desktop or the lab's own sampling stays below 5 %; on two cores 10 % of the machine is a fifth "
        "of one side"
    )
    next_step = "End what else runs (`touchstone doctor --noise` shows it), or measure on a machine of its own."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        used = others_share(sample, case.run.environment.cpus)
        if used is not None and used > NOTE:
            machine = sample.result.machine if sample.result else Machine()
            yield self.finding(
                f"other processes used {share(used)} of the machine's CPU time" + _who(machine),
                severity=Severity.SUSPECT if used > SUSPECT else Severity.NOTE,
                sample=sample,
                figures=[*SPEED, *CPU],
                doubt=Doubt.of_taken(used),
                evidence={"other_cpu_s": machine.other_cpu_s, "share": used},
            )


def _who(machine: Machine) -> str:
    """Names the process that used a great part of it."""
    if not machine.strangers or not machine.other_cpu_s:
        return ""
    first = machine.strangers[0]
    part = min(1.0, first.cpu_s / machine.other_cpu_s)
    return f", {share(part)} of that {first.called}" if part >= _GREAT else ""
