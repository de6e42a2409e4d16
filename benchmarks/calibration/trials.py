"""How often the judge is right: false differences, differences found, and coverage, on rounds whose truth is known.

The rounds are simulated like recorded ones (lognormal noise, a drift that both contenders share, now and then a
disturbed measurement), or drawn from the residuals of recorded runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from touchstone.judge.statistics.decision import Decision, decide
from touchstone.judge.statistics.intervals import SEED, ratio_interval
from touchstone.judge.statistics.sequential import confidence_of_look, look_rounds
from touchstone.record.run import Run
from touchstone.record.sample import TARE

Effects = NDArray[np.float64]
_RESAMPLES = 1999
Source = Callable[[np.random.Generator, int], Effects]
"""Draws the log ratios of the rounds of an A/A comparison."""


@dataclass(frozen=True)
class Noise:
    """A machine's noise, as shares: of a measurement alone, of the drift from round to round, of a disturbance."""

    name: str
    scatter: float
    drift: float = 0.02
    disturbed: float = 0.05
    """How often a measurement is disturbed."""
    disturbance: float = 0.10
    """By how much, as the scale of a half-normal slow-down."""

    def measurements(self, rng: np.random.Generator, rounds: int) -> tuple[Effects, Effects]:
        """Log values of the same contender under two names, round by round."""
        walk = np.cumsum(rng.normal(0, self.drift, rounds))
        first, second = (walk + rng.normal(0, self.scatter, rounds) for _ in range(2))
        return first - self._disturbances(rng, rounds), second - self._disturbances(rng, rounds)

    def _disturbances(self, rng: np.random.Generator, rounds: int) -> Effects:
        """Log slow-downs, nothing in most rounds."""
        hit = rng.random(rounds) < self.disturbed
        slower: Effects = np.where(hit, np.abs(rng.normal(0, self.disturbance, rounds)), 0.0)
        return slower

    def effects(self, rng: np.random.Generator, rounds: int) -> Effects:
        """Log ratios within rounds; the shared drift cancels."""
        first, second = self.measurements(rng, rounds)
        return first - second


QUIET = Noise("quiet", scatter=0.01)
USUAL = Noise("usual", scatter=0.03)
LOUD = Noise("loud", scatter=0.06)


def recorded_residuals(run: Run, figure: str = "throughput") -> list[float]:
    """Log residuals of a figure around each contender's own mean, from a recorded run.

    Within a round, each is taken against the round's mean over contenders, so that shared drift is taken out as pairing
    takes it out.
    """
    by_load: dict[str | None, dict[str, dict[int, float]]] = {}
    for s in run.samples:
        if s.contender != TARE and s.round is not None and s.figures.get(figure, 0) > 0:
            by_load.setdefault(s.load, {}).setdefault(s.contender, {})[s.round] = math.log(s.figures[figure])
    residuals: list[float] = []
    for contenders in by_load.values():
        rounds = set.intersection(*(set(v) for v in contenders.values()))
        if len(contenders) < 2 or len(rounds) < 3:
            continue
        table = np.array([[values[r] for r in sorted(rounds)] for values in contenders.values()])
        table -= table.mean(axis=1, keepdims=True)
        table -= table.mean(axis=0, keepdims=True)
        # Two means were taken out; the scale makes up for the degrees of freedom that went with them.
        k, n = table.shape
        table *= math.sqrt(k * n / ((k - 1) * (n - 1)))
        residuals += [float(v) for v in table.ravel()]
    return residuals


def from_residuals(residuals: list[float]) -> Source:
    """A source that draws from recorded residuals, one for each side of a pair."""
    data = np.asarray(residuals, dtype=float)

    def draw(rng: np.random.Generator, rounds: int) -> Effects:
        drawn: Effects = rng.choice(data, rounds) - rng.choice(data, rounds)
        return drawn

    return draw


@dataclass(frozen=True)
class Rates:
    """Shares of trials: a difference found in its true direction and in the wrong one, equivalent, open, covered."""

    found: float
    wrong: float
    equivalent: float
    open: float
    covered: float


def rates(
    source: Source, *, effect: float, rounds: int, trials: int, margin: float, confidence: float, seed: int = 1
) -> Rates:
    """What is decided after a fixed number of rounds, for a true ratio of 1 + effect."""
    rng = np.random.default_rng(seed)
    truth = math.log1p(effect)
    decisions: list[Decision] = []
    covered = 0
    for _ in range(trials):
        effects = list(source(rng, rounds) + truth)
        interval = ratio_interval(effects, confidence)
        assert interval is not None
        decisions.append(decide(interval, margin))
        covered += interval.low <= 1 + effect <= interval.high
    count = {d: decisions.count(d) / trials for d in Decision}
    up, down = count[Decision.HIGHER], count[Decision.LOWER]
    return Rates(up, down, count[Decision.WITHIN], count[Decision.OPEN], covered / trials)


def bootstrap_coverage(source: Source, *, rounds: int, trials: int, confidence: float, seed: int = 1) -> float:
    """How often a BCa bootstrap interval (Efron 1987) of an A/A comparison holds the truth."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(trials):
        drawn = bootstrap(
            (source(rng, rounds),),
            np.mean,
            confidence_level=confidence,
            n_resamples=_RESAMPLES,
            method="BCa",
            rng=np.random.default_rng(SEED),
        )
        hits += drawn.confidence_interval.low <= 0 <= drawn.confidence_interval.high
    return hits / trials


@dataclass(frozen=True)
class UntilDecided:
    """Shares of trials that end with a difference, in its true direction and in the wrong one, and after how long."""

    found: float
    wrong: float
    median_rounds: float
    most_rounds: float
    """Nine of ten trials had ended by then."""


def until_decided(
    source: Source,
    *,
    effect: float,
    most: int,
    trials: int,
    margin: float,
    confidence: float,
    share_error: bool = True,
    seed: int = 1,
) -> UntilDecided:
    """Rounds go on until the comparison is decided, looked at after `look_rounds`; or carelessly, after each round."""
    rng = np.random.default_rng(seed)
    truth = math.log1p(effect)
    looks = look_rounds(most) if share_error else list(range(3, most + 1))
    found = wrong = 0
    taken: list[int] = []
    for _ in range(trials):
        everything = list(source(rng, most) + truth)
        for before, rounds in pairwise((0, *looks)):
            level = confidence_of_look(before / most, rounds / most, confidence) if share_error else confidence
            effects = everything[:rounds]
            interval = ratio_interval(effects, level)
            assert interval is not None
            decision = decide(interval, margin)
            if decision is not Decision.OPEN or rounds == most:
                found += decision is Decision.HIGHER
                wrong += decision is Decision.LOWER
                taken.append(rounds)
                break
    return UntilDecided(
        found / trials, wrong / trials, float(np.median(taken)), float(np.quantile(taken, 0.9, method="higher"))
    )
