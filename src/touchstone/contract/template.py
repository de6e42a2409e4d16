"""Fills in the templates of requests and expectations."""

from __future__ import annotations

import itertools
import random
import re
import secrets
from dataclasses import dataclass, field

_PLACE = re.compile(r"\{\{|\}\}|\{(counter|fresh|random)\}|\{(.)\*(\d+)\}", re.DOTALL)


@dataclass(frozen=True)
class Values:
    """What the templates of one request stand for."""

    counter: int
    fresh: str
    random: str

    def fill(self, text: str) -> str:
        """The text with its templates filled in. A brace that belongs to no template stays, as JSON wants it."""

        def value(match: re.Match[str]) -> str:
            if match.group(0) in {"{{", "}}"}:
                return match.group(0)[0]
            if match.group(2):
                return match.group(2) * int(match.group(3))
            return str(getattr(self, match.group(1)))

        return _PLACE.sub(value, text)


@dataclass
class ValueSource:
    """Gives each request of one check its values: one `fresh` for all, a new `counter` and `random` for each."""

    seed: int
    fresh: str = field(default_factory=lambda: secrets.token_hex(4))

    def __post_init__(self) -> None:
        self._counter = itertools.count(1)
        self._random = random.Random(f"{self.seed}-{self.fresh}")

    def next(self) -> Values:
        """The values of the next request."""
        return Values(next(self._counter), self.fresh, f"{self._random.getrandbits(64):016x}")
