"""Possible biases: the largest error that a finding allows, with its direction.

A disturbance slows a service down. So its size is a factor of the service's speed: how many times faster, or slower,
it may really have been. A rate may then be higher by that factor, a time or a cost lower.

A far percentile is moved by single requests: of a disturbance only the side is known, and not how far. One that two
contenders share in equal measure lifts the far percentiles of both, and draws their ratio towards 1: who is the better
one is so without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from touchstone.judge.figures import TAIL
from touchstone.judge.judgement import PossibleBias
from touchstone.judge.statistics.decision import Interval
from touchstone.vocabulary.figure import FIGURES, Better

_EQUAL = math.log(1.05)
"""Disturbances of two contenders differ by no more where they are taken for equal."""
SUSPECT_SHARE = 0.25
"""An estimate is suspect once more than this share of its samples is: below it the median hardly moves."""


@dataclass(frozen=True)
class PossibleBiases:
    """All possible biases of one contender's figure, as logarithms of a speed ratio."""

    faster: float = 0.0
    slower: float = 0.0
    common_faster: float = 0.0
    """Possible bias from disturbances that neighbouring slices share."""
    pressed: float = 0.0
    """By how much a limit of all contenders alike may hold it back."""
    common_far: float = 0.0
    """As `common_faster`, of a far percentile: how large the disturbances were, and not how far they moved it."""

    @property
    def faster_in_all(self) -> float:
        """By how much it may be faster, whatever holds it back."""
        return self.faster + self.common_faster + self.pressed + _endless(self.common_far)

    def as_doubt(self) -> PossibleBias | None:
        """All of them together; None if there is none."""
        up, down = self.faster_in_all, self.slower
        if not up and not down:
            return None
        return PossibleBias(
            faster=None if math.isinf(up) else math.exp(up), slower=None if math.isinf(down) else math.exp(down)
        )


def combine(doubts: Iterable[PossibleBias], figure: str) -> PossibleBiases:
    """Add up biases of different causes. Among biases with one cause, the largest counts."""
    if figure in TAIL:
        return _of_far(list(doubts))
    own_faster = own_slower = common = pressed = 0.0
    for doubt in doubts:
        if doubt.common:
            common = max(common, _log(doubt.faster))
        elif doubt.presses:
            pressed = max(pressed, _log(doubt.faster))
        else:
            own_faster += _log(doubt.faster)
            own_slower += _log(doubt.slower)
    return PossibleBiases(own_faster, own_slower, common, pressed)


def _of_far(doubts: Sequence[PossibleBias]) -> PossibleBiases:
    sides = [side for doubt in doubts if not doubt.common and (side := doubt.side) is not None]
    return PossibleBiases(
        faster=sum(_log(side.faster) for side in sides),
        slower=sum(_log(side.slower) for side in sides),
        common_far=max((_log(doubt.faster) for doubt in doubts if doubt.common), default=0.0),
    )


def over_rounds(doubts: Sequence[PossibleBiases], figure: str) -> PossibleBiases:
    """The bias over a figure's rounds. A far percentile that few rounds have on one side is scatter."""
    if figure in TAIL:
        bounded = [one for one in doubts if not math.isinf(one.faster_in_all + one.slower)]
        if len(doubts) - len(bounded) <= SUSPECT_SHARE * len(doubts):
            doubts = bounded
    return mean(doubts)


def mean(doubts: Sequence[PossibleBiases]) -> PossibleBiases:
    """An estimate is a mean of logarithms, and so is what may have moved it."""
    if not doubts:
        return PossibleBiases()
    count = len(doubts)
    return PossibleBiases(
        sum(d.faster for d in doubts) / count,
        sum(d.slower for d in doubts) / count,
        sum(d.common_faster for d in doubts) / count,
        sum(d.pressed for d in doubts) / count,
        sum(d.common_far for d in doubts) / count,
    )


def widened(
    interval: Interval,
    contender: PossibleBiases,
    baseline: PossibleBiases,
    figure: str,
    *,
    paired: bool,
    adjusted: bool = False,
) -> Interval:
    """The interval of the ratio contender/baseline, widened by what may have moved either.

    `paired`: the ratio is one of neighbouring slices, so that of a disturbance which both share only the difference
    counts, and what presses both together turns nothing around; `adjusted`: it was taken at equal disturbance,
    so that there is none.
    """
    raises, lowers = (baseline, contender) if FIGURES[figure].better is Better.LOWER else (contender, baseline)
    above, below = _common(raises, lowers, paired=paired, adjusted=adjusted)
    high = interval.high * math.exp(raises.faster + lowers.slower + above)
    low = interval.low * math.exp(-(raises.slower + lowers.faster + below))
    if not paired or high >= 1:
        high *= math.exp(raises.pressed + _endless(raises.common_far))
    if not paired or low <= 1:
        low *= math.exp(-(lowers.pressed + _endless(lowers.common_far)))
    return Interval(interval.point, low, high)


def _common(one: PossibleBiases, other: PossibleBiases, *, paired: bool, adjusted: bool) -> tuple[float, float]:
    """What disturbances that neighbouring slices share leave of doubt about each of the two."""
    if adjusted:
        return 0.0, 0.0
    if paired:
        difference = one.common_faster - other.common_faster
        more = one.common_far - other.common_far
        return max(0.0, difference) + _endless(more - _EQUAL), max(0.0, -difference) + _endless(-more - _EQUAL)
    return one.common_faster, other.common_faster


def _endless(size: float) -> float:
    """What is known to be there, and not how far it reaches."""
    return math.inf if size > 0 else 0.0


def _log(times: float | None) -> float:
    """None means that there is no bound."""
    return math.inf if times is None else math.log(max(1.0, times))
