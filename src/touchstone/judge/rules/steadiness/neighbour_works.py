"""Rule: another contender worked within this one's slices."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.rest import neighbours_cpu, sliced_s, workers_of
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

NOTE = 0.02
SUSPECT = 0.05


class NeighbourWorks(SampleRule):
    """All contenders of a load in slices share the server's CPUs: who works in another one's slice takes from it."""

    code = "neighbour-works"
    severity = Severity.SUSPECT
    title = "Another contender worked within its slices"
    threshold = (
        "CPU of the contenders that were not on, next to what the server's CPUs have in these slices: above 5 % "
        "suspect, above 2 % a note; a neighbour that does this one's work is left out"
    )
    threshold_reason = "idle runtimes use well below 1 % of a CPU each; 5 % is the least difference that matters"
    next_step = "Measure without the contender that is named (`--stacks`), or end what it does in the background."
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        workers = workers_of(sample, case.run)
        used = {name: cpu_s for name, cpu_s in neighbours_cpu(sample).items() if name not in workers}
        length = sliced_s(sample)
        if not used or not length:
            return
        cpus = max(1, len(sample.placement.server_cpus))
        taken = sum(used.values()) / (length * cpus)
        if taken <= NOTE:
            return
        worst = next(iter(used))
        yield self.finding(
            f"contenders that were not on used {share(taken)} of its CPUs meanwhile, {worst} the most",
            severity=Severity.SUSPECT if taken > SUSPECT else Severity.NOTE,
            sample=sample,
            figures=[*SPEED, *CPU],
            doubt=Doubt.of_taken(taken),
            evidence={"share": taken, "cpu_s": used},
        )
