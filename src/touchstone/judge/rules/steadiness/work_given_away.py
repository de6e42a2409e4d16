"""Rule: a contender has another one do its work."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.rest import own_cpu, workers_of
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class WorkGivenAway(SampleRule):
    """In slices all contenders run at once, so that one can pass its requests on to another one.

    It would be measured with somebody else's answers, and the CPU that they cost would be in nobody's figure.
    """

    code = "work-given-away"
    severity = Severity.INVALID
    title = "A contender has another one do its work"
    threshold = (
        "CPU of another contender in this one's slices: above 1 % of a CPU in four slices of five or more, four times "
        "as much per second as in the quietest slices of the others, and above 5 % of the CPU that this one used itself"
    )
    threshold_reason = (
        "what a neighbour has put off, or does for itself, falls into everybody's slices, the null server's too; only "
        "work for this contender's requests comes whenever it is on, and never otherwise"
    )
    next_step = (
        "Look where the contender sends its requests: at ports of its neighbours, or at a file or queue that they "
        "watch. Measured alone (`--stacks`) it must do its work itself."
    )
    own_failure = True
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        own = own_cpu(sample)
        for worker, used in workers_of(sample, case.run).items():
            yield self.finding(
                f"it has {worker} do its work: {worker} used {share(used / (used + own))} of the CPU that its requests "
                "took, and rested while others were on",
                sample=sample,
                evidence={"worker": worker, "worker_cpu_s": used, "own_cpu_s": own},
            )
