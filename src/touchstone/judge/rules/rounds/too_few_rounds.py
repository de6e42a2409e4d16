"""Rule: there are too few rounds for an interval worth the name."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import PEAK
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case, Group
from touchstone.judge.rule import GroupRule
from touchstone.judge.statistics.intervals import MIN_ROUNDS

ENOUGH = 4


class TooFewRounds(GroupRule):
    """One run of each says nothing of how runs differ: what looks like two servers may be two runs."""

    code = "too-few-rounds"
    severity = Severity.SUSPECT
    title = "Too few rounds"
    threshold = "one round measured: suspect; fewer than 4: a note"
    threshold_reason = (
        "Student's t at 95 % needs 12.7 standard errors with two rounds, 4.3 with three, 3.2 with four: of one there "
        "is no interval, below four only large differences can be seen"
    )
    next_step = "Run more rounds (`--rounds N`), or until the comparisons are decided (`--until-decided`)."

    def look(self, group: Group, case: Case) -> Iterator[Finding]:
        """Count the rounds in which something was measured."""
        rounds = {s.round for s in group.samples if s.figures}
        if not rounds or len(rounds) >= ENOUGH:
            return
        enough = len(rounds) >= MIN_ROUNDS
        yield self.finding(
            f"{len(rounds)} round{'s' if len(rounds) != 1 else ''} measured; "
            + ("only large differences can be seen" if enough else "no interval can be given"),
            severity=Severity.NOTE if enough else Severity.SUSPECT,
            group=group,
            figures=None if group.load else PEAK,
            evidence={"rounds": len(rounds), "wanted": ENOUGH},
        )
