"""Templates filled in by a second implementation, against which the engine's is held.

It reads a template as the lab does when it checks a manifest, so that both readers are held against each other, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from touchstone.manifest.template import BuiltInValue, ExternalValue, KeyRange, Place, Variable, parse, written

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Oracle:
    """What the placeholders stand for."""

    counter: int
    seed: int
    fresh: str
    row: Mapping[str, str]
    captured: Mapping[str, str]

    def fill(self, text: str, place: Place = "body") -> str:
        """The text with its placeholders filled in. Raises TemplateError, and KeyError for an unknown name."""
        return "".join(piece if isinstance(piece, str) else self._value(piece, place) for piece in parse(text).pieces)

    def _value(self, piece: BuiltInValue | KeyRange | ExternalValue | Variable, place: Place) -> str:
        assert not isinstance(piece, Variable)  # filled in before the engine sees it
        if isinstance(piece, KeyRange):
            return str(draw_key(piece, self.seed, self.counter))
        if isinstance(piece, ExternalValue):
            return written((self.row if piece.source == "row" else self.captured)[piece.name], piece.escape, place)
        plain = {"counter": str(self.counter), "thread": "0", "fresh": self.fresh}
        return plain.get(piece.name) or f"{word_at(self.seed, self.counter):016x}"


def word_at(seed: int, index: int) -> int:
    """64 bits that depend on seed and index alone: SplitMix64 (Steele, Lea and Flood 2014)."""
    return _mix((_mix((seed + _GOLDEN) & _MASK) + index * _GOLDEN) & _MASK)


def draw_key(keys: KeyRange, seed: int, counter: int) -> int:
    """The key of a counter."""
    beyond = keys.high - keys.low
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
    """A rank by Zipf's law: rejection-inversion (Hörmann and Derflinger 1996) for the exponent 1."""
    highest, lowest = math.log(keys + 0.5), math.log(1.5) - 1
    sure = 2 - math.exp(math.log(2.5) - 0.5)
    while True:
        area = highest + (word >> 11) / 2**53 * (lowest - highest)
        at = math.exp(area)
        rank = min(max(math.floor(at + 0.5), 1), keys)
        if rank - at <= sure or area >= math.log(rank + 0.5) - 1 / rank:
            return rank
        word = _mix(word)
