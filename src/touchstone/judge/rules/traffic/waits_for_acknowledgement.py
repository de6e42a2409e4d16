"""Rule: responses wait until their first part is acknowledged."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.acknowledgements import NEXT_STEP, waiting
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class WaitsForAcknowledgement(SampleRule):
    """A server with Nagle's algorithm on that writes head and body apart sends the body once the head is acknowledged.

    The client's kernel puts the acknowledgement off, in the hope of something to send along. So a service that needs
    microseconds takes 40 ms, and all CPUs rest. Clients like the engine get no more of it: the figures are true.
    """

    code = "waits-for-acknowledgement"
    severity = Severity.NOTE
    title = "Responses wait for an acknowledgement"
    threshold = (
        "the rest of 5 % of the responses to a request and more came 20 ms and more after their first part, and in 3 "
        "trials and more, in which the engine acknowledged the first part at once, it took so long so seldom as chance "
        "brings about less than once in 1,000 times"
    )
    threshold_reason = (
        "what a service does before it sends the rest takes its time whoever acknowledges what; only a kernel that "
        "holds the rest back (Nagle's algorithm, RFC 9293 section 3.7.4) sends it for an acknowledgement, which Linux "
        "puts off for 40 ms and more (section 3.8.6.3); in fewer responses than one in twenty it moves the tail alone"
    )
    next_step = NEXT_STEP

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for request in sample.result.requests if sample.result else []:
            found = waiting(request)
            if found is None or request.in_parts is None:
                continue
            yield self.finding(
                found.sentence,
                sample=sample,
                figures=["throughput", *LATENCY],
                evidence={"request": found.request, "wait_s": found.wait_s} | request.in_parts.model_dump(),
            )
