"""Rule: requests were left without an answer."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import slots
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

LARGE = 0.1


class RequestsUnanswered(SampleRule):
    """What was not answered when the load ended is in no percentile.

    The longest waits are missing from the record.
    """

    code = "requests-unanswered"
    severity = Severity.SUSPECT
    title = "Requests were left without an answer"
    threshold = (
        "more requests unanswered at the end than can be under way at once (connections times pipelining); "
        "invalid above a tenth of all"
    )
    threshold_reason = (
        "a load always ends with some requests under way, at most one a slot; more means that a queue was thrown away"
    )
    next_step = "Lower the rate until the server keeps up, or read the figures as those of an overload."
    own_failure = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or result.counts.unanswered <= slots(sample):
            return
        unanswered, sent = result.counts.unanswered, max(1, result.counts.sent)
        yield self.finding(
            f"{number(unanswered)} of {number(sent)} requests were never answered, and at most {slots(sample)} "
            f"could be under way",
            severity=Severity.INVALID if unanswered > LARGE * sent else Severity.SUSPECT,
            sample=sample,
            figures=LATENCY,
            evidence={"unanswered": unanswered, "sent": sent, "slots": slots(sample)},
        )
