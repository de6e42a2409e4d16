"""Rule: other processes used the CPUs while trials of a search failed."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.disturbance import others_in_failed_trials
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SUSPECT = 0.10


class CapacityDisturbed(SampleRule):
    """A trial that fails because somebody else has the CPU says where the machine bends, and not the server."""

    code = "capacity-disturbed"
    severity = Severity.SUSPECT
    title = "Other processes used the CPUs while trials failed"
    threshold = (
        "CPU of processes that are neither server, engine nor dependency, as the median over failed trials: above 10 % "
        "of the machine"
    )
    threshold_reason = "as for `other-processes`: on two cores 10 % of the machine is a fifth of one side"
    next_step = "End what else runs (`touchstone doctor --noise` shows it), or measure on a machine of its own."
    phases = ("capacity",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one search."""
        used = others_in_failed_trials(sample, case.run.environment.cpus)
        if used is None or used <= SUSPECT:
            return
        yield self.finding(
            f"while its trials failed, other processes used {share(used)} of the machine's CPU time",
            sample=sample,
            figures=["capacity"],
            doubt=Doubt.of_taken(used),
            evidence={"share": used},
        )
