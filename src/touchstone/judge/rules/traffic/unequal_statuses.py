"""Rule: contenders answer with different statuses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone.judge.figures import CPU, LATENCY
from touchstone.judge.judgement import Doubt, Finding, Severity
from touchstone.judge.language.quantity import share
from touchstone.judge.reading.apart import Apart, apart
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import RunRule

POINTS = 0.02
UNBOUNDED = 0.10
CHANCE = 4.0
"""Standard errors within which a difference is taken for chance, as of requests that are drawn from a mix."""


@dataclass(frozen=True)
class Answers:
    """How many of a contender's answers have a status."""

    count: int
    total: int

    def __float__(self) -> float:
        """Their share."""
        return self.count / self.total


class UnequalStatuses(RunRule):
    """A status that the contract allows may still be the cheap one.

    A contender that refuses nine requests in ten does less work than one that serves them.
    """

    code = "unequal-statuses"
    severity = Severity.SUSPECT
    title = "Contenders answer with different statuses"
    threshold = (
        "the share of a status in a contender's answers differs by more than 2 percentage points from another's, and "
        "by more than four standard errors of it; up to 10 points with a bound on what they can have moved; where most "
        "contenders agree, only those who differ are suspect"
    )
    threshold_reason = (
        "within one contract the same requests call for the same statuses, but for chance where they are drawn from a "
        "mix; a refusal takes no less than no time, so that 2 points move throughput by 2 %; ten points move it by "
        "more than the margin even if refusals cost half"
    )
    next_step = (
        "Compare how much each contender refuses; lower the load below the limit that makes it refuse, or compare "
        "only the answers served."
    )

    def look(self, case: Case) -> Iterator[Finding]:
        """Look at the run."""
        for load in case.loads:
            counted = _counted(case, load)
            told: set[str | None] = set()
            for status in sorted({status for counts in counted.values() for status in counts}):
                found = {name: Answers(counts[status], counts.total()) for name, counts in counted.items()}
                for pair in apart(found, _differ):
                    # Who refuses more serves less: one finding says both.
                    if not told & {pair.odd, None}:
                        told.add(pair.odd)
                        yield self._finding(pair, found, status, load, counted)

    def _finding(
        self, pair: Apart, found: Mapping[str, Answers], status: str, load: str, counted: Mapping[str, Counter[str]]
    ) -> Finding:
        low, high = float(found[pair.low]), float(found[pair.high])
        return self.finding(
            f"{share(high)} of {pair.high}'s answers are {status}, {share(low)} of {pair.low}'s",
            load=load,
            contender=pair.odd,
            figures=["throughput", *LATENCY, *CPU],
            doubt=None if high - low > UNBOUNDED else _doubt(pair, high - low, counted),
            evidence={"status": status, "shares": {name: float(answers) for name, answers in found.items()}},
        )


def _counted(case: Case, load: str) -> dict[str, Counter[str]]:
    """By contender how many of its answers have which status."""
    counted: dict[str, Counter[str]] = {}
    for group in case.groups_of("load"):
        if group.load == load:
            seen: Counter[str] = Counter()
            for sample in group.samples:
                seen.update(sample.result.counts.status if sample.result else {})
            if seen.total():
                counted[group.contender] = seen
    return counted


def _differ(low: Answers, high: Answers) -> bool:
    """Whether two shares differ by more than is allowed, and by more than chance explains."""
    pooled = (low.count + high.count) / (low.total + high.total)
    error = math.sqrt(pooled * (1 - pooled) * (1 / low.total + 1 / high.total))
    return float(high) - float(low) > max(POINTS, CHANCE * error)


def _doubt(pair: Apart, difference: float, counted: Mapping[str, Counter[str]]) -> Doubt:
    """What other answers than its neighbour's can have saved a contender; if it serves more than others, cost it."""
    times = 1 / (1 - difference)
    other = pair.high if pair.odd == pair.low else pair.low
    if pair.odd is not None and _served(counted[pair.odd]) > _served(counted[other]):
        return Doubt(faster=times, reason="others save no more than the whole of what they refuse")
    return Doubt(slower=times, reason="an answer that refuses takes no less than no time")


def _served(counts: Counter[str]) -> float:
    """The share of answers whose status says success."""
    return sum(count for status, count in counts.items() if status.startswith("2")) / counts.total()
