"""Rule: open descriptors grew to the end."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.case import Case
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.quantity import number
from touchstone.judge.rule import SampleRule
from touchstone.judge.traffic import asked_connections
from touchstone.judge.trend import grows
from touchstone.record.sample import Sample

ROOM = 100


class DescriptorsGrow(SampleRule):
    """A descriptor that is not closed with its request is one for every request.

    The server dies when it has used them all.
    """

    code = "descriptors-grow"
    severity = Severity.SUSPECT
    title = "Open descriptors grew to the end"
    threshold = (
        "descriptors still climb in a straight line when the load ends, by more over its second half than the "
        "connections of the load and 100"
    )
    threshold_reason = (
        "connections, pools and files are opened as the load begins and then stay; a hundred leaves room for a "
        "pool that fills late"
    )
    next_step = "List the open descriptors after a load (`ls -l /proc/PID/fd`): what is there often is not closed."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        watch = sample.result.watch if sample.result else None
        series = [
            (p.t, float(p.fds)) for p in (watch.series if watch else []) if p.phase == "load" and p.fds is not None
        ]
        rate = grows(series, least=asked_connections(sample) + ROOM)
        if rate is not None:
            yield self.finding(
                f"open descriptors grew from {number(series[0][1])} to {number(series[-1][1])}, {number(rate)} a "
                f"second at the end",
                sample=sample,
                evidence={"first": series[0], "last": series[-1], "a_second": rate},
            )
