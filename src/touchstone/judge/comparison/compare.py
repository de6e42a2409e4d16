"""Contenders against the baseline: ratios within rounds, and what they decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone.judge.comparison.doubt import widened
from touchstone.judge.comparison.estimate import Series
from touchstone.judge.comparison.verdict import worst
from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.language.sentences import comparison_sentence
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.laps import AS_THEY_ARE, Adjustment, lap_effects
from touchstone.judge.reading.starts import start_ratios
from touchstone.judge.statistics.intervals import (
    UNWIDENED,
    Decision,
    Interval,
    decide,
    log_effects,
    more_rounds,
    ratio_interval,
    simultaneous,
    unpaired_ratio_interval,
)
from touchstone.record.sample import TARE
from touchstone.vocabulary.figure import FIGURES, Better

Key = tuple[str, str | None, str]
DOUBT_REMAINS = "more rounds would not decide it as long as its doubts remain"


def compare(case: Case, all_series: list[Series]) -> list[Comparison]:
    """Every contender against the baseline, and every exhibit against its sound twin, on every figure that both have.

    A family is one question: one figure of one load, all contenders that are put against the baseline on it. Their
    intervals are simultaneous, and the interval that is shown is the one that decides.
    """
    by_key: dict[Key, dict[str, Series]] = {}
    for series in all_series:
        e = series.estimate
        if e.contender != TARE:
            by_key.setdefault((e.phase, e.load, e.figure), {})[e.contender] = series
    baseline = _baseline(case, by_key)
    comparisons: list[Comparison] = []
    for group in by_key.values():
        pairs = list(_pairs(case, group, baseline))
        comparisons += [_Question(group[a], group[b], case, len(pairs)).answer() for a, b in pairs]
    return comparisons


def _baseline(case: Case, by_key: Mapping[Key, Mapping[str, Series]]) -> str | None:
    """The plan's; if that has no sound load, while several others have, the first of them."""
    plan = case.run.plan
    planned = plan.baseline_among({name for group in by_key.values() for name in group})
    loads = [group for (phase, _, _), group in by_key.items() if phase == "load"]
    sound = {n for group in loads for n, one in group.items() if one.estimate.verdict is not Verdict.INVALID}
    return plan.baseline_among(sound) if planned not in sound and len(sound) > 1 else planned


def _pairs(case: Case, group: dict[str, Series], baseline: str | None) -> Iterator[tuple[str, str]]:
    for name in group:
        if baseline in group and name != baseline:
            yield name, str(baseline)
        plan = case.contender(name)
        twin = plan.sound_twin if plan and plan.exhibit else None
        if twin in group and twin != baseline:
            yield name, str(twin)


@dataclass(frozen=True)
class _Effects:
    """Log ratios, one for each unit that is repeated: a round, or a start where contenders are started in turn."""

    values: list[float]
    rounds: int
    laps: int = 0
    """Pairs of neighbouring slices that they are made of."""
    starts: int = 0
    """Pairs of neighbouring starts, each a value."""
    in_turns: bool = False
    """Whether both were measured in neighbouring slices or starts, so that they share what disturbs them."""
    adjustment: Adjustment = AS_THEY_ARE


def _effects(contender: Series, baseline: Series) -> _Effects:
    common = sorted(contender.samples.keys() & baseline.samples.keys())
    figure = contender.estimate.figure
    pairs = [(contender.samples[number], baseline.samples[number]) for number in common]
    laps, found = lap_effects(pairs, figure)
    if laps:
        count = sum(one.laps for one in laps)
        return _Effects([one.effect for one in laps], len(laps), laps=count, in_turns=True, adjustment=found)
    starts = [ratios for pair in pairs if (ratios := start_ratios(*pair, figure))]
    if starts:
        values = [ratio for ratios in starts for ratio in ratios]
        return _Effects(values, len(starts), starts=len(values), in_turns=True)
    values = log_effects(contender.by_round, baseline.by_round)
    return _Effects(values, len(values), in_turns=all(one.slices is not None for pair in pairs for one in pair))


class _Question:
    """One contender against another on one figure."""

    def __init__(self, contender: Series, baseline: Series, case: Case, family: int) -> None:
        self.margin = case.margin
        self.confidence = case.confidence
        self.family = family
        confidence = simultaneous(case.confidence, family)
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
        found = _effects(contender, baseline)
        self.effects, self.rounds = found.values, found.rounds
        self.comparison.laps, self.comparison.starts = found.laps, found.starts
        self.in_turns = found.in_turns
        self.adjustment = found.adjustment
        self.comparison.slope, self.comparison.core_slope = found.adjustment.taken, found.adjustment.slowed
        self.comparison.left_slope = found.adjustment.left
        self.interval: Interval | None = None
        self.widening = UNWIDENED
        self.exact = is_exact(e.figure)
        # Round 0 stands for a phase without rounds: more of them would measure nothing again.
        self.repeats_by_round = not self.exact and set(contender.by_round) != {0}
        if self.comparison.verdict is Verdict.INVALID:
            self.effects = []
            return
        self.comparison.rounds = self.rounds
        if self.exact and self.effects:
            ratio = math.exp(self.effects[-1])
            self.interval = Interval(ratio, ratio, ratio)
        elif self.rounds == 1 and not self.comparison.starts:
            self.interval = unpaired_ratio_interval(contender.repeats, baseline.repeats, confidence)
        else:
            self.interval = ratio_interval(self.effects, confidence)
        if self.interval is not None and not self.exact:
            self._widen(contender, baseline)

    def _widen(self, contender: Series, baseline: Series) -> None:
        assert self.interval is not None
        sampled, figure, adjusted = self.interval, self.comparison.figure, self.adjustment.for_others
        doubts = contender.doubts, baseline.doubts
        self.interval = widened(sampled, *doubts, figure, paired=self.in_turns, adjusted=adjusted)
        if (self.interval.low, self.interval.high) != (sampled.low, sampled.high):
            self.comparison.sampled_low, self.comparison.sampled_high = sampled.low, sampled.high
            self.widening = self.interval.widening_of(sampled)

    def answer(self) -> Comparison:
        """Fill in the outcome."""
        c = self.comparison
        if self.interval:
            c.ratio, c.low, c.high = self.interval.point, self.interval.low, self.interval.high
        elif self.effects:
            c.ratio = math.exp(sum(self.effects) / len(self.effects))
        c.outcome, why = self._outcome()
        c.reason = c.reason or why
        if c.outcome in (Outcome.FASTER, Outcome.SLOWER):
            c.better = c.outcome is Outcome.FASTER
        if c.outcome is Outcome.UNDECIDED and c.verdict is not Verdict.INVALID and self.repeats_by_round:
            self._forecast()
        c.sentence = comparison_sentence(c, self.margin, self.confidence)
        return c

    def _forecast(self) -> None:
        c = self.comparison
        asked = (self.effects, self.margin, self.confidence, self.family)
        more = more_rounds(*asked, widening=self.widening)
        if more is not None:
            c.more_rounds = math.ceil(more * self.rounds / len(self.effects))
        elif more_rounds(*asked) is not None:
            c.reason = c.reason or DOUBT_REMAINS

    def _outcome(self) -> tuple[Outcome, str | None]:
        if self.interval is None:
            return self._without_interval()
        decision = decide(self.interval, self.margin)
        if decision is Decision.WITHIN:
            return Outcome.EQUIVALENT, None
        if decision is Decision.OPEN:
            return Outcome.UNDECIDED, None
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
            return Outcome.UNDECIDED, "one common round gives no interval"
        return Outcome.UNDECIDED, "a ratio to 0 means nothing" if self.nonzero else "no common round"
