"""Rule: threads grew to the end."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.growth import under_load
from touchstone.judge.reading.traffic import asked_connections
from touchstone.judge.rule import SampleRule
from touchstone.judge.statistics.trend import grows
from touchstone.record.sample import Sample

ROOM = 32


class ThreadsGrow(SampleRule):
    """A thread that is not ended with its request is one for every request."""

    code = "threads-grow"
    severity = Severity.SUSPECT
    title = "Threads grew to the end"
    threshold = (
        "threads still climb in a straight line when the load ends, by more over the second half of it and its warm-up "
        "than the connections of the load and 32"
    )
    threshold_reason = (
        "a thread a connection is a design; more than that is a leak, and runtimes add a few helpers of their own"
    )
    next_step = "Dump the threads after a load: what there is most of is not ended, or blocked."
    # Pools fill up after exec.
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        series = under_load(sample, lambda point: point.threads)
        rate = grows(series, least=asked_connections(sample) + ROOM)
        if rate is not None:
            yield self.finding(
                f"threads grew from {number(series[0][1])} to {number(series[-1][1])}, {number(rate)} a second at "
                f"the end",
                sample=sample,
                evidence={"first": series[0], "last": series[-1], "a_second": rate},
            )
