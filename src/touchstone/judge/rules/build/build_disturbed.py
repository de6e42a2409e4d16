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
TICK_S = 0.01
"""The kernel's clock counts the CPU time of the machine in ticks of this length, for each CPU."""
TICKS = 5


class BuildDisturbed(SampleRule):
    """A build is timed once, so that no round averages out what else ran.

    The figures stay with the build in the cache, and so does what disturbed it.
    """

    code = "build-disturbed"
    severity = Severity.SUSPECT
    title = "Something else had the CPUs during the build"
    threshold = (
        "over the cold build, other processes above 10 % of the machine's CPU time, or more than 5 % stolen; and more "
        "than five clock ticks of 10 ms for each CPU"
    )
    threshold_reason = (
        "on two cores 10 % of the machine is a fifth of one of them; what is stolen makes a build longer by about its "
        "share, and below the least effect that matters by default it cannot make a difference of builds; of a "
        "build of some milliseconds the kernel's ticks cannot tell who had the CPUs"
    )
    next_step = "End what else runs, and build again with `--fresh-builds`."
    phases = ("build",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        machine = sample.machine
        if machine is None or not machine.wall_s or machine.other_cpu_s is None or machine.steal_s is None:
            return
        cpus = max(1, case.run.environment.cpus)
        others, stolen = (lost / (machine.wall_s * cpus) for lost in (machine.other_cpu_s, machine.steal_s))
        if (others <= OTHERS and stolen <= STOLEN) or _untold(machine.other_cpu_s + machine.steal_s, cpus):
            return
        yield self.finding(
            f"while it was built, other processes used {share(others)} of the machine's CPU time, "
            f"and {share(stolen)} was stolen",
            sample=sample,
            figures=["build_cold", "build_warm", "build_cpu"],
            doubt=_doubt(machine.wall_s, machine.other_cpu_s + machine.steal_s),
            evidence={"wall_s": machine.wall_s, "other_cpu_s": machine.other_cpu_s, "steal_s": machine.steal_s},
        )


def _untold(lost_s: float, cpus: int) -> bool:
    return lost_s <= TICKS * TICK_S * cpus


def _doubt(wall_s: float, lost_s: float) -> Doubt:
    """Of a build of `wall_s` seconds, in which others had CPUs for `lost_s` seconds."""
    return Doubt(
        faster=wall_s / (wall_s - lost_s) if lost_s < wall_s else None,
        reason="a second in which others had a CPU makes a build longer by a second at the most",
    )
