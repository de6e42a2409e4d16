"""What laps and rounds are worth: the variance of one lap's effect within a round, and that between rounds."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from touchstone.judge.reading.laps import LapEffect, lap_effect
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Spread:
    """Variances of log ratios, over all pairs of contenders and all loads of a run."""

    between: float
    """Of a round's effect, beyond what its laps' own scatter explains: luck that processes are born with."""
    within: float
    """Of a single lap's effect."""
    lap_s: float
    """Seconds of one lap over all loads: every contender's slice and the tare's."""
    laps: int
    """Laps in the last round."""


def spread(run: Run, figure: str = "throughput") -> Spread | None:
    """What a run's slices say of both variances; None before `LEAST_ROUNDS` rounds, or where nothing was sliced.

    Figures differ: CPU time of a request scatters less from slice to slice than the rate, and from process to process
    as much.
    """
    sliced = [s for s in run.samples if s.slices is not None and s.round is not None]
    last = max((s.round or 0 for s in sliced), default=0)
    if last < LEAST_ROUNDS:
        return None
    effects = _effects([s for s in sliced if s.contender != TARE], figure)
    pairs = [rounds for rounds in effects.values() if len(rounds) >= LEAST_ROUNDS]
    if not pairs:
        return None
    within = statistics.fmean(effect.variance for rounds in pairs for effect in rounds)
    between = statistics.fmean(max(0.0, _between(rounds)) for rounds in pairs)
    newest = [one for s in sliced if s.round == last and s.slices for one in s.slices.slices if one.lap is not None]
    laps = 1 + max((one.lap or 0 for one in newest), default=0)
    return Spread(between, within, sum(one.end - one.begin for one in newest) / laps, laps)


def _between(rounds: list[LapEffect]) -> float:
    explained = statistics.fmean(effect.variance / effect.laps for effect in rounds)
    return statistics.variance(effect.effect for effect in rounds) - explained


def _effects(samples: list[Sample], figure: str) -> dict[tuple[str, str | None], list[LapEffect]]:
    """By contender and load, the effects of the rounds against the first contender by name."""
    by_place: dict[tuple[str | None, int], dict[str, Sample]] = {}
    for sample in samples:
        by_place.setdefault((sample.load, sample.round or 0), {})[sample.contender] = sample
    found: dict[tuple[str, str | None], list[LapEffect]] = {}
    for (load, _), contenders in sorted(by_place.items(), key=lambda item: item[0][1]):
        first = min(contenders)
        for name in contenders.keys() - {first}:
            if effect := lap_effect(contenders[name], contenders[first], figure):
                found.setdefault((name, load), []).append(effect)
    return found
