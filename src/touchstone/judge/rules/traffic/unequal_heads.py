"""Rule: contenders send differently many bytes around their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.apart import apart
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule
from touchstone.record.sample import Sample

BYTES = 128
MANY = 1024


class UnequalHeads(RunRule):
    """A contract says what a body is; of header fields it names few, and each costs time to make and to read.

    A contender that sends no `Date`, or a page of tracing and security fields, is measured on that as well.
    """

    code = "unequal-heads"
    severity = Severity.SUSPECT
    title = "Contenders send differently many bytes around their bodies"
    threshold = (
        "mean bytes per response beyond the body (status line, header fields, chunk sizes), by contender: the largest "
        "more than 1,024 bytes above the smallest suspect, more than 128 a note; rounds in which one request in a "
        "hundred failed are left out; where most contenders agree, only those who differ are named"
    )
    threshold_reason = (
        "frameworks' own fields differ by some 100 bytes, which costs a fraction of a microsecond; with a KiB more a "
        "short response takes a further packet"
    )
    next_step = "Compare the heads of the two contenders named (`curl -i`), and switch off in one what the other lacks."

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            means: dict[str, float] = {}
            for group in case.groups_of("load"):
                if group.load == load and (mean := _around_body(group.samples)) is not None:
                    means[group.contender] = mean
            for pair in apart(means, lambda small, large: large - small > BYTES):
                more = means[pair.high] - means[pair.low]
                yield self.finding(
                    f"around the body of a response {pair.high} sends {number(means[pair.high])} bytes and {pair.low} "
                    f"{number(means[pair.low])}",
                    severity=Severity.SUSPECT if more > MANY else Severity.NOTE,
                    load=load,
                    contender=pair.odd,
                    figures=[*SPEED, *CPU],
                    evidence={"bytes_around_body": means},
                )


def _around_body(samples: Sequence[Sample]) -> float | None:
    """Mean bytes per response that are not its body, over all rounds that went well; None if none did."""
    sound = [
        s.result
        for s in samples
        if s.result and s.result.counts.completed and s.result.counts.not_right < 0.01 * s.result.counts.completed
    ]
    answered = sum(r.counts.completed for r in sound)
    return sum(r.bytes.received - r.bytes.body for r in sound) / answered if answered else None
