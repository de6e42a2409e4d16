"""Draws what a counter stands for, as the engine does: the same number for the same seed and counter, always."""

from __future__ import annotations

import math

from touchstone.manifest.template import KeyRange

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def word_at(seed: int, index: int) -> int:
    """64 bits that depend on seed and index alone: SplitMix64 (Steele, Lea and Flood 2014)."""
    return _mix((_mix((seed + _GOLDEN) & _MASK) + index * _GOLDEN) & _MASK)


def random_text(seed: int, counter: int) -> str:
    """The text of `{random}`: 16 hexadecimal digits."""
    return f"{word_at(seed, counter):016x}"


def draw_key(keys: KeyRange, seed: int, counter: int) -> int:
    """The key of a counter."""
    beyond = keys.high - keys.low
    # Ranges that differ are drawn independently of each other.
    rotated = (keys.low << 32 | keys.low >> 32) & _MASK
    word = word_at((seed & _MASK) ^ _mix(rotated ^ beyond), counter)
    if keys.distribution == "sequential":
        return keys.low + counter % (beyond + 1)
    if keys.distribution == "zipf":
        return keys.low + _zipf(word, beyond + 1) - 1
    return keys.low + (word * (beyond + 1) >> 64)


def _mix(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
    return word ^ word >> 31


def _zipf(word: int, keys: int) -> int:
    """A rank from 1 to `keys`, the rank k with a probability proportional to 1/k: rejection-inversion.

    Hörmann and Derflinger (1996), for the exponent 1, where the integral is the logarithm.
    """
    highest, lowest = math.log(keys + 0.5), math.log(1.5) - 1
    sure = 2 - math.exp(math.log(2.5) - 0.5)
    while True:
        area = highest + (word >> 11) / 2**53 * (lowest - highest)
        at = math.exp(area)
        rank = min(max(math.floor(at + 0.5), 1), keys)
        if rank - at <= sure or area >= math.log(rank + 0.5) - 1 / rank:
            return rank
        word = _mix(word)
