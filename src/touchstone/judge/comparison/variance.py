"""What laps and rounds are worth: the variance of one lap's effect within a round, and that between rounds."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from touchstone.judge.reading.laps import LapEffect, lap_effects
from touchstone.judge.statistics.distributions import t_quantile
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

LEAST_ROUNDS = 3
_LAPS = (6, 97)
"""A round of fewer laps says nothing of its own scatter; one of more is better spent on fresh processes."""


@dataclass(frozen=True)
class VarianceComponents:
    """Variances of log ratios, over all pairs of contenders and all loads of a run."""

    between: float
    """Variance of a round's effect beyond its laps' scatter: differences between processes."""
    within: float
    """Variance of a single lap's effect."""
    lap_s: float
    """Seconds of one lap over all loads: every contender's slice and the tare's."""
    laps: tuple[int, ...]
    """Laps in each round until now."""

    def worthwhile_laps(self, time_s: float, round_s: float, confidence: float) -> int:
        """The number of laps a round should have so that this time gives the narrowest interval.

        Rounds count alike in the interval, whatever their number of laps. The variance of a round's effect is
        `between + within / laps` (Kalibera and Jones 2013), and Student's t asks more standard errors of few rounds
        than of many: a long round is seldom worth two short ones.

        Args:
            time_s: what is left to be spent.
            round_s: what a round costs without any lap: processes, dependencies, warm-up.
            confidence: of the interval.

        """
        spent = sum(self._variance(laps) for laps in self.laps)

        def half_width(laps: int) -> float:
            more = max(1, int(time_s / (round_s + laps * self.lap_s)))
            rounds = len(self.laps) + more
            error = math.sqrt(spent + more * self._variance(laps)) / rounds
            return error * t_quantile((1 + confidence) / 2, rounds - 1)

        affordable = [laps for laps in range(*_LAPS) if round_s + laps * self.lap_s <= time_s]
        return min(affordable or _LAPS[:1], key=half_width)

    def _variance(self, laps: int) -> float:
        return self.between + self.within / laps


def spread(run: Run, figure: str = "throughput") -> VarianceComponents | None:
    """What a run's slices say of both variances. None before `LEAST_ROUNDS` rounds, or where nothing was sliced.

    Figures differ: CPU time of a request scatters less from slice to slice than the rate, and from process to process
    as much.
    """
    sliced = [s for s in run.samples if s.slices is not None and s.round is not None]
    last = max((s.round or 0 for s in sliced), default=0)
    if last < LEAST_ROUNDS:
        return None
    contenders = [s for s in sliced if s.contender != TARE]
    effects = _effects(contenders, figure)
    pairs = [rounds for rounds in effects.values() if len(rounds) >= LEAST_ROUNDS]
    if not pairs:
        return None
    within = statistics.fmean(effect.variance for rounds in pairs for effect in rounds)
    between = statistics.fmean(max(0.0, _between(rounds)) for rounds in pairs)
    return VarianceComponents(between, within, *lap_costs(run))


def lap_costs(run: Run) -> tuple[float, tuple[int, ...]]:
    """Seconds per lap over all loads in the newest round, and laps in each round. Without any, (0, ())."""
    sliced = [s for s in run.samples if s.slices is not None and s.round is not None]
    laps = _laps([s for s in sliced if s.contender != TARE])
    newest = [s for s in sliced if s.round == len(laps)]
    counted = [one for s in newest for one in s.counted_slices]
    return sum(one.end - one.begin for one in counted) / (laps or (1,))[-1], laps


def _laps(sliced: list[Sample]) -> tuple[int, ...]:
    """How many laps each round has, in the order of rounds."""
    found: dict[int, int] = {}
    for sample in sliced:
        laps = [one.lap for one in sample.counted_slices if one.lap is not None]
        number = sample.round or 0
        found[number] = max([found.get(number, 1), *(lap + 1 for lap in laps)])
    return tuple(found[number] for number in sorted(found))


def _between(rounds: list[LapEffect]) -> float:
    explained = statistics.fmean(effect.variance / effect.laps for effect in rounds)
    return statistics.variance(effect.effect for effect in rounds) - explained


def _effects(samples: list[Sample], figure: str) -> dict[tuple[str, str | None], list[LapEffect]]:
    """By contender and load, the effects of the rounds against the first contender by name."""
    by_place: dict[tuple[str | None, int], dict[str, Sample]] = {}
    for sample in samples:
        by_place.setdefault((sample.load, sample.round or 0), {})[sample.contender] = sample
    pairs: dict[tuple[str, str | None], list[tuple[Sample, Sample]]] = {}
    for (load, _), contenders in sorted(by_place.items(), key=lambda item: item[0][1]):
        first = min(contenders)
        for name in contenders.keys() - {first}:
            pairs.setdefault((name, load), []).append((contenders[name], contenders[first]))
    return {place: lap_effects(rounds, figure)[0] for place, rounds in pairs.items()}
