"""Rule: something else had the CPUs while a build was timed."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.judge.rules.machine.other_processes import SUSPECT as OTHERS
from touchstone.record.sample import Sample

STOLEN = 0.05


class BuildDisturbed(SampleRule):
    """A build is timed once, so that no round averages out what else ran.

    The figures stay with the build in the cache, and so does what disturbed it.
    """

    code = "build-disturbed"
    severity = Severity.SUSPECT
    title = "Something else had the CPUs during the build"
    threshold = "over the cold build, other processes above 10 % of the machine's CPU time, or more than 5 % stolen"
    threshold_reason = (
        "on two cores 10 % of the machine is a fifth of one of them; what is stolen makes a build longer by about its "
        "share, and below the least effect that matters by default it cannot make a difference of builds"
    )
    next_step = "End what else runs, and build again with `--fresh-builds`."
    phases = ("build",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        machine = sample.machine
        if machine is None or not machine.wall_s or machine.other_cpu_s is None or machine.steal_s is None:
            return
        whole = machine.wall_s * max(1, case.run.environment.cpus)
        others, stolen = machine.other_cpu_s / whole, machine.steal_s / whole
        if others <= OTHERS and stolen <= STOLEN:
            return
        yield self.finding(
            f"while it was built, other processes used {share(others)} of the machine's CPU time, "
            f"and {share(stolen)} was stolen",
            sample=sample,
            figures=["build_cold", "build_warm", "build_cpu"],
            doubt=_doubt(machine.wall_s, machine.other_cpu_s + machine.steal_s),
            evidence={"wall_s": machine.wall_s, "other_cpu_s": machine.other_cpu_s, "steal_s": machine.steal_s},
        )


def _doubt(wall_s: float, lost_s: float) -> Doubt:
    """Of a build of `wall_s` seconds, in which others had CPUs for `lost_s` seconds."""
    return Doubt(
        faster=wall_s / (wall_s - lost_s) if lost_s < wall_s else None,
        reason="a second in which others had a CPU makes a build longer by a second at the most",
    )
