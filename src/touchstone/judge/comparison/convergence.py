"""The estimate of a ratio after each lap of a run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from touchstone.judge.reading.laps import LEAST_LAPS, LapEffect, adjustment, effect_of, laps_by_round
from touchstone.judge.statistics.decision import Interval
from touchstone.judge.statistics.distributions import t_quantile
from touchstone.judge.statistics.intervals import MIN_ROUNDS, ratio_of
from touchstone.record.sample import Sample


@dataclass(frozen=True)
class ConvergencePoint:
    """What one lap added."""

    round: int
    lap: int
    """Within its round, from 0."""
    ratio: float
    """This lap's ratio."""
    known: Interval | None
    """The ratio over all laps until now; None before there are enough of them."""
    of_rounds: bool = False
    """True once the interval is that over rounds, which decides. Before it is the laps' own scatter: what processes
    are born with is not in it.
    """


def convergence(
    contender: Mapping[int, Sample], baseline: Mapping[int, Sample], figure: str, confidence: float
) -> list[ConvergencePoint]:
    """One step for each lap that both have, over all their rounds in order. Samples by round.

    Nothing where slices do not know the figure. A round counts from its `LEAST_LAPS`th lap on, as it does for the
    judge, and so the last step is what the judge says before doubts.
    """
    steps: list[ConvergencePoint] = []
    finished: list[LapEffect] = []
    numbers = sorted(contender.keys() & baseline.keys())
    rounds = laps_by_round([(contender[number], baseline[number]) for number in numbers], figure)
    found = adjustment(rounds, figure)
    for number, laps in zip(numbers, rounds, strict=True):
        ratios = found.applied(laps)
        effects = finished
        for count in range(1, len(ratios) + 1):
            if count >= LEAST_LAPS:
                effects = [*finished, effect_of(ratios[:count])]
            known, of_rounds = _known(effects, confidence)
            steps.append(ConvergencePoint(number, count - 1, math.exp(ratios[count - 1]), known, of_rounds))
        finished = effects
    return steps


def _known(effects: Sequence[LapEffect], confidence: float) -> tuple[Interval | None, bool]:
    if not effects:
        return None, False
    middle = statistics.fmean(one.effect for one in effects)
    if len(effects) >= MIN_ROUNDS:
        error = statistics.stdev(one.effect for one in effects) / math.sqrt(len(effects))
        freedom = len(effects) - 1
    else:
        error = math.sqrt(sum(one.variance / one.laps for one in effects)) / len(effects)
        freedom = sum(one.laps for one in effects) - len(effects)
    half = t_quantile((1 + confidence) / 2, freedom) * error
    known = Interval(ratio_of(middle), ratio_of(middle - half), ratio_of(middle + half))
    return known, len(effects) >= MIN_ROUNDS
