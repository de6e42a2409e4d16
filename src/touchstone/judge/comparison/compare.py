"""Compares contenders with the baseline, by ratios within rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone.judge.comparison.estimate import RoundValues
from touchstone.judge.comparison.possible_bias import widened
from touchstone.judge.comparison.verdict import worst
from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.judge.language.sentences import comparison_sentence
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.laps import AS_THEY_ARE, Adjustment, lap_effects
from touchstone.judge.reading.starts import start_ratios
from touchstone.judge.statistics.decision import UNWIDENED, Decision, Interval, decide
from touchstone.judge.statistics.intervals import (
    log_effects,
    more_rounds,
    ratio_interval,
    simultaneous,
    unpaired_ratio_interval,
)
from touchstone.record.sample import TARE
from touchstone.vocabulary.figure import FIGURES, Better

Key = tuple[str, str | None, str]
_REAL = (Decision.HIGHER, Decision.LOWER)
DOUBT_REMAINS = "more rounds would not decide it as long as its possible biases remain"


def compare(case: Case, all_series: list[RoundValues]) -> list[Comparison]:
    """Compare contenders with the baseline, and exhibits with their correct variants, on common figures.

    A family is one question: one figure of one load, all contenders that are put against the baseline on it. Their
    intervals are simultaneous, and the interval that is shown is the one that decides. The twin is not a rival. It is
    in no family, and its comparison errs as often as one contender's alone.
    """
    by_key: dict[Key, dict[str, RoundValues]] = {}
    for series in all_series:
        e = series.estimate
        if e.contender != TARE:
            by_key.setdefault((e.phase, e.load, e.figure), {})[e.contender] = series
    baseline = _baseline(case, by_key)
    comparisons: list[Comparison] = []
    for group in by_key.values():
        pairs = list(_pairs(case, group, baseline))
        twin = case.run.plan.twin
        rivals = sum(a != twin for a, _ in pairs)
        comparisons += [_FigurePair(group[a], group[b], case, 1 if a == twin else rivals).answer() for a, b in pairs]
    return comparisons


def _baseline(case: Case, by_key: Mapping[Key, Mapping[str, RoundValues]]) -> str | None:
    """The plan's; if that has no sound load, while several others have, the first of them."""
    plan = case.run.plan
    planned = plan.baseline_among({name for group in by_key.values() for name in group})
    loads = [group for (phase, _, _), group in by_key.items() if phase == "load"]
    sound = {n for group in loads for n, one in group.items() if one.estimate.verdict is not Verdict.INVALID}
    return plan.baseline_among(sound) if planned not in sound and len(sound) > 1 else planned


def _pairs(case: Case, group: dict[str, RoundValues], baseline: str | None) -> Iterator[tuple[str, str]]:
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


def _effects(contender: RoundValues, baseline: RoundValues) -> _Effects:
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


class _FigurePair:
    """A pair of contenders and one figure."""

    def __init__(self, contender: RoundValues, baseline: RoundValues, case: Case, family: int) -> None:
        e, b = contender.estimate, baseline.estimate
        verdict = worst(e.verdict, b.verdict)
        blamed = e if verdict is e.verdict else b
        found = _effects(contender, baseline)
        self.comparison = Comparison(
            phase=e.phase,
            figure=e.figure,
            load=e.load,
            contender=e.contender,
            baseline=b.contender,
            before=b.median,
            after=e.median,
            verdict=verdict,
            reason=None if verdict is Verdict.VALID else f"{blamed.contender}: {blamed.reason}",
            laps=found.laps,
            starts=found.starts,
            slope=found.adjustment.taken,
            core_slope=found.adjustment.slowed,
            left_slope=found.adjustment.left,
            rounds=0 if verdict is Verdict.INVALID else found.rounds,
        )
        self.case, self.family, self.found = case, family, found
        self.contender, self.baseline = contender, baseline
        self.effects = [] if verdict is Verdict.INVALID else found.values
        self.exact = is_exact(e.figure)
        # Round 0 stands for a phase without rounds: more of them would measure nothing again.
        self.repeats_by_round = not self.exact and set(contender.by_round) != {0}
        self.widening = UNWIDENED

    def answer(self) -> Comparison:
        """Return the comparison with interval, outcome, and the number of rounds that would decide it."""
        c, margin, confidence = self.comparison, self.case.margin, self.case.confidence
        interval = None if c.verdict is Verdict.INVALID else self._interval()
        c.decided_by(interval, margin)
        if interval is None:
            why = self._without_interval()
        elif FIGURES[c.figure].better is Better.NEITHER and decide(interval, margin) in _REAL:
            why = "neither direction is the better one"
        else:
            why = None
        c.reason = c.reason or why
        if c.outcome is Outcome.UNDECIDED and c.verdict is not Verdict.INVALID and self.repeats_by_round:
            self._forecast()
        c.sentence = comparison_sentence(c, margin, confidence)
        return c

    def _interval(self) -> Interval | None:
        """Return the interval of the ratio, widened by the possible biases of both contenders."""
        if self.exact:
            ratio = math.exp(self.effects[-1]) if self.effects else None
            return Interval(ratio, ratio, ratio) if ratio is not None else None
        confidence = simultaneous(self.case.confidence, self.family)
        if self.found.rounds == 1 and not self.found.starts:
            sampled = unpaired_ratio_interval(self.contender.repeats, self.baseline.repeats, confidence)
        else:
            sampled = ratio_interval(self.effects, confidence)
        if sampled is None:
            return None
        doubts, adjusted = (self.contender.doubts, self.baseline.doubts), self.found.adjustment.for_others
        wide = widened(sampled, *doubts, self.comparison.figure, paired=self.found.in_turns, adjusted=adjusted)
        if (wide.low, wide.high) != (sampled.low, sampled.high):
            self.comparison.sampled_low, self.comparison.sampled_high = sampled.low, sampled.high
            self.widening = wide.widening_of(sampled)
        return wide

    def _forecast(self) -> None:
        c = self.comparison
        asked = (self.effects, self.case.margin, self.case.confidence, self.family)
        more = more_rounds(*asked, widening=self.widening)
        if more is not None:
            c.more_rounds = math.ceil(more * self.found.rounds / len(self.effects))
        elif more_rounds(*asked) is not None:
            c.reason = c.reason or DOUBT_REMAINS

    def _without_interval(self) -> str:
        """Why there is no interval. The ratio, and what can be said without one, are put into the comparison."""
        if self.effects:
            self.comparison.ratio = math.exp(sum(self.effects) / len(self.effects))
            if not self.repeats_by_round:
                return "measured once each, which gives no interval"
            return "one common round gives no interval"
        common = self.contender.by_round.keys() & self.baseline.by_round.keys()
        values = [series.by_round[number] for series in (self.contender, self.baseline) for number in common]
        if values and not any(values):
            self.comparison.outcome = Outcome.EQUIVALENT
            return "0 in every round"
        return "a ratio to 0 means nothing" if values else "no common round"
