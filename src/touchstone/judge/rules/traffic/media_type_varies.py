"""Rule: responses to one request have several media types."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class MediaTypeVaries(SampleRule):
    """A request that is answered now as text and now as HTML has two pieces of code behind it, and one may be cheaper.

    A load that states the media type counts any other as an error. This is for loads that leave it open.
    """

    code = "media-type-varies"
    severity = Severity.SUSPECT
    title = "Responses to one request have several media types"
    threshold = "more than one media type, or one and none, among the responses to one request with one status"
    threshold_reason = "the same request calls for the same kind of answer, so that a single other one has a cause"
    next_step = (
        "See which of the responses are meant, and state it: expect = { content_type = ... } in the load's request. "
        "Where all are, make a request of each kind."
    )

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for request in sample.result.requests if sample.result else []:
            for status in dict.fromkeys(one.status for one in request.media_types):
                found = [one for one in request.media_types if one.status == status]
                if len(found) < 2:
                    continue
                said = ", ".join(f"{one.media_type or 'none'} ({number(one.responses)})" for one in found)
                yield self.finding(
                    f"the media type of {request.name}'s responses with status {status} varies: {said}",
                    sample=sample,
                    figures=["throughput", *LATENCY, *CPU],
                    evidence={"request": request.name, "media_types": [one.model_dump() for one in found]},
                )
