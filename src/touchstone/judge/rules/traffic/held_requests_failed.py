"""Rule: held connections were lost, or their requests failed."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.hold_result import HoldLevel
from touchstone.record.sample import Sample

MANY = 0.01


class HeldRequestsFailed(SampleRule):
    """Memory per connection is a figure of connections that are there and can be used.

    A server that drops idle ones, or answers some of them wrongly, keeps less for each.
    """

    code = "held-requests-failed"
    severity = Severity.INVALID
    title = "Held connections were lost, or their requests failed"
    threshold = (
        "any connection of a level that failed or was lost, or a request over a held one that was not answered "
        "rightly: suspect; more than 1 % of the level: invalid"
    )
    threshold_reason = (
        "the lab closes none, and idle times are far below the timeouts that scenarios set; at 1 % the slope over the "
        "levels is off by as much as two runs differ"
    )
    next_step = "Read the evidence: a limit of connections or descriptors, an idle timeout, or a wrong answer."
    own_failure = True
    phases = ("hold",)

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample; the level with most failures is told."""
        levels = sample.hold.raw if sample.hold else []
        worst = max((level for level in levels if level.idle), key=_failures, default=None)
        if worst is None or not _failures(worst):
            return
        count, asked = _failures(worst), max(1, worst.connections)
        first = worst.evidence
        yield self.finding(
            f"at {number(asked)} connections {number(count)} failed, were lost, or had a wrong answer"
            + (f": {first}" if first else ""),
            severity=Severity.INVALID if count > MANY * asked else Severity.SUSPECT,
            sample=sample,
            evidence=worst.model_dump(
                mode="json", include={"connections", "held", "failed", "lost", "evidence", "traffic"}
            ),
        )


def _failures(level: HoldLevel) -> int:
    wrong = level.traffic.requests - level.traffic.ok if level.traffic else 0
    return sum(level.failed.values()) + sum(level.lost.values()) + max(0, wrong)
