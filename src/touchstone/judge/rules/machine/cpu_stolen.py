"""Rule: the hypervisor took CPU away."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

SHARE = 0.02


class CpuStolen(SampleRule):
    """Stolen time looks like slow code.

    It comes and goes with the neighbours on the host.
    """

    code = "cpu-stolen"
    severity = Severity.SUSPECT
    title = "The hypervisor took CPU away"
    threshold = "steal above 2 % of the machine's CPU time in the window"
    threshold_reason = (
        "2 % of CPU is 2 % of the throughput of a full server, nearly half of the least effect that matters by default"
    )
    next_step = "Measure at another hour or on another machine; more rounds average it out only if it hits all alike."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        steal = result.machine.steal_s if result else None
        if result is None or not steal or not result.window.measured_s:
            return
        stolen = steal / (result.window.measured_s * max(1, case.run.environment.cpus))
        if stolen > SHARE:
            yield self.finding(
                f"{share(stolen)} of the machine's CPU time was stolen during the window",
                sample=sample,
                figures=[*SPEED, *CPU],
                doubt=Doubt.of_taken(stolen, "the rest of the time was its own"),
                evidence={"steal_s": steal, "share": stolen},
            )
