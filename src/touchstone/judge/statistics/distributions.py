"""Student's t and the binomial distribution, from scipy.special: scipy.stats loads for longer than a run is judged."""

from __future__ import annotations

from scipy.special import bdtr, bdtrc, stdtrit


def t_quantile(p: float, freedom: float) -> float:
    """The value that Student's t stays below with probability `p`."""
    return float(stdtrit(freedom, p))


def at_most(hits: int, trials: int, chance: float) -> float:
    """The probability of at most `hits` in independent trials that hit with this chance."""
    return float(bdtr(hits, trials, chance))


def at_least(hits: int, trials: int, chance: float) -> float:
    """The probability of at least `hits` in independent trials that hit with this chance."""
    return float(bdtrc(hits - 1, trials, chance)) if hits > 0 else 1.0


def median_ranks(count: int, confidence: float) -> tuple[int, int] | None:
    """The ranks, from 0, of the ordered values between which the median lies; None for too few values.

    The sign test turned round (Conover 1999, section 3.2): free of any distribution, at least the confidence asked.
    """
    tail = (1 - confidence) / 2
    low = next(k for k in range(count + 1) if at_most(k, count, 0.5) >= tail)
    high = next(k for k in range(count + 1) if at_least(k + 1, count, 0.5) <= tail)
    return (low - 1, high) if low >= 1 and high < count else None
