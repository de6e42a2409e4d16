"""Rule: contenders answer with different statuses."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from touchstone.judge.figures import CPU, LATENCY
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import share
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
                low, high = min(found, key=lambda c: found[c]), max(found, key=lambda c: found[c])
                if found[high] - found[low] <= POINTS:
                    continue
                for odd in _odd(found):
                    other = high if odd is None or found[high] - found[odd] > found[odd] - found[low] else low
                    one = odd or low
                    yield self.finding(
                        f"{share(found[other])} of {other}'s answers are {status}, {share(found[one])} of {one}'s",
                        load=load,
                        contender=odd,
                        figures=["throughput", *LATENCY, *CPU],
                        evidence={"status": status, "shares": found},
                    )
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


def _odd(shares: dict[str, float]) -> list[str | None]:
    """Who differs from most others; one None, which is all of them, where there are no most."""
    usual = statistics.median(shares.values())
    odd: list[str | None] = [contender for contender, found in shares.items() if abs(found - usual) > POINTS]
    return odd if 0 < len(odd) < len(shares) / 2 else [None]
