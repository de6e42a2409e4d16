"""Numbers and texts within limits: the simplest that a schema allows, and others where several must differ."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import regex
from rstr import Rstr

from touchstone.intake.openapi.part import UnsoundError

LONGEST, MOST = 64 * 2**10, 1_000
"""Characters of a text, and elements of an array or an object, that are made up."""
_REPEATS = 10_000
"""Repetitions that a pattern may ask for altogether, and characters that it may have when they are written out."""
_MATCH_S = 0.25
"""A match that takes longer is one that backtracks without end."""
_ENDLESS: set[str] = set()
"""Patterns of which a match has taken longer."""
_TYPICAL = ("text", "Text-1234", "Passw0rd!", "1", "a", "A")
_EXTRA = (*range(0, 20), 24, 32, 48, 64, 100, 128, 256, 512)
"""How often more than it must a pattern's part is repeated, tried in turn, until the text is long enough."""

_FORMATS: dict[str, Callable[[int], str]] = {
    "date": lambda turn: f"{2024 + turn // 28}-05-{turn % 28 + 1:02}",
    "date-time": lambda turn: f"{2024 + turn // 28}-05-{turn % 28 + 1:02}T12:00:00Z",
    "time": lambda turn: f"12:{turn // 60 % 60:02}:{turn % 60:02}Z",
    "duration": lambda turn: f"P{turn + 1}D",
    "email": lambda turn: f"ann{turn or ''}@example.com",
    "hostname": lambda turn: f"www{turn or ''}.example.com",
    "ipv4": lambda turn: f"192.0.{turn // 250 % 250 + 2}.{turn % 250 + 1}",
    "ipv6": lambda turn: f"2001:db8::{turn + 1:x}",
    "uri": lambda turn: f"https://example.com/{turn or ''}",
    "uri-reference": lambda turn: f"/{turn or ''}",
    "uri-template": lambda turn: f"/{turn or ''}",
    "uuid": lambda turn: f"3f2b8c1e-5d4a-4e6f-9a7b-{turn:012x}",
    "json-pointer": lambda turn: f"/{turn}",
    "relative-json-pointer": lambda turn: f"{turn}",
    "regex": lambda turn: f"a{turn or ''}",
    "byte": lambda turn: ("dGV4", "dGV5", "dGV6", "dGVh", "dGVi")[turn % 5] * (turn // 5 + 1),
}
_FORMATS |= {"idn-email": _FORMATS["email"], "idn-hostname": _FORMATS["hostname"], "url": _FORMATS["uri"]}
_FORMATS |= {"iri": _FORMATS["uri"], "iri-reference": _FORMATS["uri-reference"], "datetime": _FORMATS["date-time"]}
_FORMATS |= {"guid": _FORMATS["uuid"], "ip": _FORMATS["ipv4"], "base64": _FORMATS["byte"]}


@dataclass
class ValueLimits:
    """What the keywords of a schema allow, the tightest of several. Lengths in characters, sizes in elements."""

    lowest: Fraction | None = None
    lowest_excluded: bool = False
    highest: Fraction | None = None
    highest_excluded: bool = False
    multiple_of: Fraction | None = None
    shortest: int = 0
    longest: int | None = None
    patterns: list[str] = field(default_factory=list)
    format: str = ""

    def at_least(self, value: Any, *, excluded: bool) -> None:
        """Tighten by a lower bound; what is not a number is none."""
        bound = as_fraction(value)
        if bound is not None and (self.lowest is None or (bound, excluded) > (self.lowest, self.lowest_excluded)):
            self.lowest, self.lowest_excluded = bound, excluded

    def at_most(self, value: Any, *, excluded: bool) -> None:
        """Tighten by an upper bound; what is not a number is none."""
        bound = as_fraction(value)
        if bound is not None and (
            self.highest is None or (bound, not excluded) < (self.highest, not self.highest_excluded)
        ):
            self.highest, self.highest_excluded = bound, excluded


def as_fraction(value: Any) -> Fraction | None:
    """A number as it is written; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def number(limits: ValueLimits, *, whole: bool, turn: int) -> int | float:
    """The number nearest to a usual one, the `turn`-th of several. Raises UnsoundError if the limits allow none."""
    step = limits.multiple_of if limits.multiple_of and limits.multiple_of > 0 else None
    if whole:
        step = Fraction(step.numerator) if step else Fraction(1)
    usual = Fraction(1) if whole or step else Fraction(3, 2)
    for wanted in (usual, limits.lowest, limits.highest):
        if wanted is None:
            continue
        for near in _near(wanted, step, limits):
            if _within(found := near + turn * (step or 1), limits) or _within(
                found := near - turn * (step or 1), limits
            ):
                return found.numerator if found.denominator == 1 else float(found)
    raise UnsoundError("no number is within its limits")


def _near(wanted: Fraction, step: Fraction | None, limits: ValueLimits) -> Sequence[Fraction]:
    if step:
        below = math.floor(wanted / step) * step
        return (*([wanted] if wanted == below else []), below + step, below, below - step)
    if limits.lowest is not None and limits.highest is not None:
        return (wanted, (limits.lowest + limits.highest) / 2)
    return (wanted, wanted + 1, wanted - 1)


def _within(value: Fraction, limits: ValueLimits) -> bool:
    if limits.lowest is not None and (value < limits.lowest or (limits.lowest_excluded and value == limits.lowest)):
        return False
    return limits.highest is None or not (
        value > limits.highest or (limits.highest_excluded and value == limits.highest)
    )


def text(limits: ValueLimits, turn: int) -> str:
    """A text of the length, format and pattern, the `turn`-th of several. Raises UnsoundError if none is found."""
    if limits.shortest > LONGEST:
        raise UnsoundError(f"a text of {limits.shortest} characters is longer than a draft may hold")
    if limits.longest is not None and limits.longest < limits.shortest:
        raise UnsoundError("no text is within its limits of length")
    if limits.patterns:
        return _like(limits, turn)
    if limits.format in _FORMATS:
        return _FORMATS[limits.format](turn)
    plain = f"text{turn or ''}"
    padded = plain.ljust(limits.shortest, "x")
    if limits.longest is None or len(padded) <= limits.longest:
        return padded
    cut = str(turn)[-limits.longest :] if turn and limits.longest else plain[: limits.longest]
    return cut.ljust(limits.shortest, "x")


def _like(limits: ValueLimits, turn: int) -> str:
    if any(_written_out(pattern) > _REPEATS for pattern in limits.patterns):
        raise UnsoundError("its pattern asks for too much")
    usual = [_FORMATS[limits.format](turn)] if limits.format in _FORMATS else list(_TYPICAL) if not turn else []
    made = (_made(limits.patterns[0], extra, turn) for extra in _EXTRA if _ENDLESS.isdisjoint(limits.patterns))
    for candidate in itertools.chain(usual, filter(None, made)):
        long_enough = limits.shortest <= len(candidate) <= (LONGEST if limits.longest is None else limits.longest)
        if long_enough and all(matches(pattern, candidate) for pattern in limits.patterns):
            return candidate
    raise UnsoundError(f"no text was found that matches {' and '.join(limits.patterns)}")


@lru_cache(maxsize=8192)
def matches(pattern: str, candidate: str) -> bool:
    """Whether a pattern is found in a text. False for a pattern that is none, and for one that takes too long."""
    if _written_out(pattern) > _REPEATS or pattern in _ENDLESS:
        return False
    try:
        return regex.search(pattern, candidate, timeout=_MATCH_S) is not None
    except TimeoutError:
        _ENDLESS.add(pattern)
    except (regex.error, ValueError, RecursionError, OverflowError):
        pass
    return False


_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d{1,9})(?:(,)(\d{0,9}))?\}|.", re.DOTALL)


def _written_out(pattern: str) -> int:
    """Length of a pattern with counted repetitions written out, as `regex` compiles it."""
    groups, last = [0], 0
    for token in _TOKEN.finditer(pattern):
        match token[0]:
            case "(":
                groups.append(0)
                continue
            case ")" if len(groups) > 1:
                last = groups.pop()
            case "|" | "*" | "+" | "?":
                continue
            case _ if token[1]:
                last *= max(0, int(token[3] or token[1]) - 1)
            case _:
                last = 1
        groups[-1] += last
    return sum(groups)


def _made(pattern: str, extra: int, turn: int) -> str:
    """A text by the pattern; empty if it cannot be made."""
    # Python's own parser, by which rstr reads, knows no properties of characters.
    known = re.sub(r"\\[pP]\{\^?[A-Za-z_=]+\}", r"\\w", pattern)
    try:
        return str(Rstr(_Smallest(extra, turn)).xeger(known))
    except (re.error, LookupError, ValueError, TypeError, RecursionError, OverflowError):
        return ""


@lru_cache(maxsize=512)
def _plainest_first(characters: str) -> str:
    return "".join(sorted(characters, key=lambda one: (not one.isalpha(), not one.isalnum(), one.isspace(), one)))


class _Smallest(random.Random):
    """In place of chance: the fewest repetitions and `extra` more, and the plainest character."""

    def __init__(self, extra: int, turn: int) -> None:
        super().__init__()
        self._extra, self._turn, self._left = extra, turn, _REPEATS

    def randint(self, a: int, b: int) -> int:
        times = max(a, min(b, a + self._extra))
        self._left -= times
        if self._left < 0:
            raise ValueError("too many repetitions")
        return times

    def choice(self, seq: Any) -> Any:
        if not isinstance(seq[0], str):
            return seq[0]
        plain = _plainest_first("".join(seq))
        at, self._turn = self._turn % len(plain), self._turn // len(plain)
        return plain[at]

    def shuffle(self, x: Any) -> None:
        """Leave the order as it is."""
