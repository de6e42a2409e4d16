"""Rule: open descriptors grew to the end, or came near their limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, per_request
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.growth import left_behind
from touchstone.judge.reading.traffic import asked_connections
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

ROOM = 100
NEAR = 0.9


class DescriptorsGrow(SampleRule):
    """A descriptor that is not closed with its request is one for every request.

    The server dies when it has used them all.
    """

    code = "descriptors-grow"
    severity = Severity.SUSPECT
    title = "Open descriptors grew to the end, or came near their limit"
    threshold = (
        "over the last two thirds of all requests, warm-up included, descriptors grow in proportion to them, in both "
        "halves alike, by more than the connections that were opened anew and 16; or they still climb in a straight "
        "line when the load ends, by more over the second half of it and its warm-up than the connections of the load "
        "and 100; or within the window a process had 90 % of those that it may have open, the connections of the load "
        "and 100 not counted"
    )
    threshold_reason = (
        "connections, pools and files are opened as the load begins and then stay, and what a pool opens late it does "
        "not open with every so many requests; sixteen leave room for a runtime's own. What grows in another way may "
        "be a pool that fills late, for which a hundred leaves room. At the limit every further accept and open fails; "
        "samples are 0.1 s apart, and 10 % leave room for what lies between them"
    )
    next_step = "List the open descriptors after a load (`ls -l /proc/PID/fd`): what is there often is not closed."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        watch = sample.result.watch if sample.result else None
        connections = asked_connections(sample) + ROOM
        peak, limit = (watch.window.fds_peak, watch.window.fd_limit) if watch else (None, None)
        if peak is not None and limit is not None and peak >= NEAR * limit and peak > connections:
            yield self.finding(
                f"a process had {number(peak)} open descriptors of the {number(limit)} that it may have",
                sample=sample,
                evidence={"peak": peak, "limit": limit, "connections": asked_connections(sample)},
            )
            return
        grown = left_behind(sample, lambda point: point.fds, room=ROOM)
        if grown is not None:
            yield self.finding(
                f"open descriptors grew from {number(grown.first)} to {number(grown.last)}, {per_request(grown.each)}",
                sample=sample,
                evidence=asdict(grown),
            )
