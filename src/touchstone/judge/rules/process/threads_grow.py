"""Rule: threads grew to the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, per_request
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.growth import left_behind
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

ROOM = 32


class ThreadsGrow(SampleRule):
    """A thread that is not ended with its request is one for every request.

    So is a zombie, a process that has ended and that its parent has not waited for: both take a place among the tasks
    of the machine, whose number is limited.
    """

    code = "threads-grow"
    severity = Severity.SUSPECT
    title = "Threads grew to the end"
    threshold = (
        "over the last two thirds of all requests, warm-up included, threads and zombies grow in proportion to them, "
        "in both halves alike, by more than the connections that were opened anew and 16; or they still climb in a "
        "straight line when the load ends, by more over the second half of it and its warm-up than the connections of "
        "the load and 32"
    )
    threshold_reason = (
        "a thread a connection is a design, and connections are open before the first request; more than that is a "
        "leak, and runtimes add a few helpers of their own"
    )
    next_step = (
        "Dump the threads after a load: what there is most of is not ended, or blocked. Where `ps` shows defunct "
        "processes, wait for the children that are started."
    )
    # Pools fill up after exec.
    phases = ("load",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        grown = left_behind(sample, lambda point: point.threads, room=ROOM)
        if grown is not None:
            yield self.finding(
                f"threads grew from {number(grown.first)} to {number(grown.last)}, {per_request(grown.each)}",
                sample=sample,
                evidence=asdict(grown),
            )
