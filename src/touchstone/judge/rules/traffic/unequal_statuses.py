"""Rule: contenders answer with different statuses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from touchstone.judge.figures import CPU, LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.apart import apart
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

POINTS = 0.10


class UnequalStatuses(RunRule):
    """A status that the contract allows may still be the cheap one.

    A contender that refuses nine requests in ten does less work than one that serves them.
    """

    code = "unequal-statuses"
    severity = Severity.SUSPECT
    title = "Contenders answer with different statuses"
    threshold = (
        "the share of a status in a contender's answers differs by more than 10 percentage points from another's; "
        "where most contenders agree, only those who differ are suspect"
    )
    threshold_reason = (
        "within one contract the same requests call for the same statuses; ten points move throughput by more "
        "than the margin even if refusals cost half"
    )
    next_step = (
        "Compare how much each contender refuses; lower the load below the limit that makes it refuse, or compare "
        "only the answers served."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            shares = _shares(case, load)
            for status in sorted({status for by in shares.values() for status in by}):
                found = {contender: by.get(status, 0.0) for contender, by in shares.items()}
                pairs = apart(found, lambda low, high: high - low > POINTS)
                for pair in pairs:
                    yield self.finding(
                        f"{share(found[pair.high])} of {pair.high}'s answers are {status}, {share(found[pair.low])} "
                        f"of {pair.low}'s",
                        load=load,
                        contender=pair.odd,
                        figures=["throughput", *LATENCY, *CPU],
                        evidence={"status": status, "shares": found},
                    )
                if pairs:
                    break


def _shares(case: Case, load: str) -> dict[str, dict[str, float]]:
    """By contender the share of each status in its answers."""
    shares: dict[str, dict[str, float]] = {}
    for group in case.groups_of("load"):
        if group.load != load:
            continue
        seen: dict[str, int] = defaultdict(int)
        for sample in group.samples:
            for status, count in (sample.result.counts.status if sample.result else {}).items():
                seen[status] += count
        if total := sum(seen.values()):
            shares[group.contender] = {status: n / total for status, n in seen.items()}
    return shares
