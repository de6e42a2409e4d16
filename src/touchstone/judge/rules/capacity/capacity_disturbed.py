"""Rule: others had the CPUs while trials of a search failed."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.disturbance import taken_in_failed_trials
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SUSPECT = 0.10
_TOLD = 0.01


class CapacityDisturbed(SampleRule):
    """A trial that fails because somebody else has the CPU says where the machine bends, and not the server.

    Failures in short bursts are void and not looked at; what is left is a machine that others use all the time.
    """

    code = "capacity-disturbed"
    severity = Severity.SUSPECT
    title = "Others had the CPUs while trials failed"
    threshold = (
        "CPU of processes that are neither server, engine nor dependency, and what the hypervisor took, as the median "
        "over failed trials: above 10 % of the machine"
    )
    threshold_reason = "as for `other-processes`: on two cores 10 % of the machine is a fifth of one side"
    next_step = "End what else runs (`touchstone doctor --noise` shows it), or measure on a machine of its own."
    phases = ("capacity",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one search."""
        taken = taken_in_failed_trials(sample, case.run.environment.cpus)
        if taken is None or sum(taken) <= SUSPECT:
            return
        others, stolen = taken
        told = f", and the hypervisor took {share(stolen)}" if stolen >= _TOLD else ""
        yield self.finding(
            f"while its trials failed, other processes used {share(others)} of the machine's CPU time{told}",
            sample=sample,
            figures=["capacity"],
            doubt=Doubt.of_taken(others + stolen),
            evidence={"share": others, "stolen": stolen},
        )
