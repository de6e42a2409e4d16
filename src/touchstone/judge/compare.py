"""Contenders against the baseline: ratios within rounds, and what they decide."""

from __future__ import annotations

import math
from collections.abc import Iterator

from touchstone.judge.case import Case
from touchstone.judge.estimate import Series
from touchstone.judge.figures import EXACT
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.sentences import comparison_sentence
from touchstone.judge.statistics import (
    Decision,
    Interval,
    decide,
    difference_p,
    holm,
    log_effects,
    more_rounds,
    ratio_interval,
    unpaired_ratio_interval,
)
from touchstone.judge.verdict import worst
from touchstone.record.figure import FIGURES, Better
from touchstone.record.sample import TARE

Key = tuple[str, str | None, str]


def compare(case: Case, all_series: list[Series]) -> list[Comparison]:
    """Every contender against the baseline, and every exhibit against its sound twin, on every figure that both have.

    Holm's correction runs over one question at a time: one figure of one load, all contenders that are put against
    the baseline on it.
    """
    by_key: dict[Key, dict[str, Series]] = {}
    for series in all_series:
        e = series.estimate
        if e.contender != TARE:
            by_key.setdefault((e.phase, e.load, e.figure), {})[e.contender] = series
    baseline = baseline_of(case, {name for group in by_key.values() for name in group})
    comparisons: list[Comparison] = []
    for group in by_key.values():
        pairs = list(_pairs(case, group, baseline))
        questions = [_Question(group[a], group[b], case) for a, b in pairs]
        adjusted = holm([q.p for q in questions if q.p is not None])
        for question in questions:
            corrected = adjusted.pop(0) if question.p is not None else None
            comparisons.append(question.answer(corrected, len(questions)))
    return comparisons


def baseline_of(case: Case, measured: set[str]) -> str | None:
    """The contender that the others are put against: the plan's, or the first that was measured and is no exhibit."""
    plan = case.run.plan
    names = [c.name for c in plan.contenders if c.name in measured]
    names += sorted(measured - set(names))
    wanted = [n for n in names if plan.baseline in (n, n.split("/", 1)[0])]
    exhibits = {c.name for c in plan.contenders if c.exhibit}
    for candidates in (wanted, names):
        sound = [n for n in candidates if n not in exhibits]
        if sound or candidates:
            return (sound or candidates)[0]
    return None


def _pairs(case: Case, group: dict[str, Series], baseline: str | None) -> Iterator[tuple[str, str]]:
    for name in group:
        if baseline in group and name != baseline:
            yield name, str(baseline)
        plan = case.contender(name)
        twin = plan.sound_twin if plan and plan.exhibit else None
        if twin is None:
            continue
        found = next((n for n in group if twin in (n, n.split("/", 1)[0]) and n != name), None)
        if found and found != baseline:
            yield name, found


class _Question:
    """One contender against another on one figure."""

    def __init__(self, contender: Series, baseline: Series, case: Case) -> None:
        self.margin = case.margin
        self.confidence = case.confidence
        e, b = contender.estimate, baseline.estimate
        self.comparison = Comparison(
            phase=e.phase, figure=e.figure, load=e.load, contender=e.contender, baseline=b.contender
        )
        self.comparison.verdict = worst(e.verdict, b.verdict)
        if e.verdict is not Verdict.VALID or b.verdict is not Verdict.VALID:
            blamed = e if worst(e.verdict, b.verdict) is e.verdict else b
            self.comparison.reason = f"{blamed.contender}: {blamed.reason}"
        common = contender.by_round.keys() & baseline.by_round.keys()
        self.nonzero = [bool(s.by_round[r]) for s in (contender, baseline) for r in common]
        self.effects = log_effects(contender.by_round, baseline.by_round)
        self.interval: Interval | None = None
        self.p: float | None = None
        self.exact = e.figure in EXACT
        # Round 0 stands for a phase without rounds: more of them would measure nothing again.
        self.repeats_by_round = not self.exact and set(contender.by_round) != {0}
        if self.comparison.verdict is Verdict.INVALID:
            self.effects = []
            return
        self.comparison.rounds = len(self.effects)
        if self.exact and self.effects:
            ratio = math.exp(self.effects[-1])
            self.interval = Interval(ratio, ratio, ratio)
        elif len(self.effects) == 1:
            unpaired = unpaired_ratio_interval(contender.repeats, baseline.repeats, case.confidence)
            if unpaired:
                self.interval, self.p = unpaired
        else:
            self.interval = ratio_interval(self.effects, case.confidence)
            self.p = difference_p(self.effects)

    def answer(self, adjusted_p: float | None, family: int) -> Comparison:
        """Fill in the outcome, with the p-value as corrected for the family's size."""
        c = self.comparison
        if self.interval:
            c.ratio, c.low, c.high = self.interval.point, self.interval.low, self.interval.high
        elif self.effects:
            c.ratio = math.exp(sum(self.effects) / len(self.effects))
        c.outcome, why = self._outcome(adjusted_p, family)
        c.reason = c.reason or why
        if c.outcome in (Outcome.FASTER, Outcome.SLOWER):
            c.better = c.outcome is Outcome.FASTER
        if c.outcome is Outcome.UNDECIDED and c.verdict is not Verdict.INVALID and self.repeats_by_round:
            c.more_rounds = more_rounds(self.effects, self.margin, self.confidence, family)
        c.sentence = comparison_sentence(c, self.margin, self.confidence)
        return c

    def _outcome(self, adjusted_p: float | None, family: int) -> tuple[Outcome, str | None]:
        if self.interval is None:
            return self._without_interval()
        decision = decide(self.interval, adjusted_p, self.margin, self.confidence)
        if decision is Decision.WITHIN:
            return Outcome.EQUIVALENT, None
        if decision is Decision.OPEN:
            alone = decide(self.interval, None, self.margin, self.confidence)
            return Outcome.UNDECIDED, None if alone is Decision.OPEN else (
                f"the interval excludes 1, but not after correction for {family} comparisons"
            )
        direction = FIGURES[self.comparison.figure].better
        if direction is Better.NEITHER:
            return Outcome.UNDECIDED, "neither direction is the better one"
        good = Decision.HIGHER if direction is Better.HIGHER else Decision.LOWER
        return (Outcome.FASTER if decision is good else Outcome.SLOWER), None

    def _without_interval(self) -> tuple[Outcome, str]:
        if self.nonzero and not any(self.nonzero):
            return Outcome.EQUIVALENT, "0 in every round"
        if self.effects and not self.repeats_by_round:
            return Outcome.UNDECIDED, "measured once each, which gives no interval"
        if self.effects:
            return Outcome.UNDECIDED, f"{len(self.effects)} common round(s) give no interval"
        return Outcome.UNDECIDED, "a ratio to 0 means nothing" if self.nonzero else "no common round"
