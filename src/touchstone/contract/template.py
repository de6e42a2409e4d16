"""Fills in the templates of requests and expectations."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from touchstone.contract.draw import draw_key, random_text, word_at
from touchstone.manifest.template import KeyRange, Outside, Place, Plain, Variable, parse, written
from touchstone.record.secret import keep_secret


def fresh_of(seed: int) -> str:
    """The text of `{fresh}` in a load with this seed, as the engine makes it."""
    return f"{word_at(seed, 2**64 - 1) >> 32:08x}"


@dataclass(frozen=True)
class Values:
    """What the templates of one request stand for."""

    counter: int
    fresh: str
    seed: int
    row: Mapping[str, str] = field(default_factory=dict)
    captured: Mapping[str, str] = field(default_factory=dict)

    def fill(self, text: str, place: Place = "body") -> str:
        """The text with its templates filled in. Raises TemplateError, and KeyError for a row or a capture unknown."""
        return "".join(piece if isinstance(piece, str) else self._value(piece, place) for piece in parse(text).pieces)

    def encoded(self, text: str, encoding: Literal["text", "bytes"]) -> bytes:
        """A body with its templates filled in: its own text in the encoding, what is filled in as UTF-8. Raises as
        `fill` does.
        """
        own = "latin-1" if encoding == "bytes" else "utf-8"
        pieces = parse(text).pieces
        return b"".join(
            one.encode(own) if isinstance(one, str) else self._value(one, "body").encode() for one in pieces
        )

    def _value(self, piece: Plain | KeyRange | Outside | Variable, place: Place) -> str:
        if isinstance(piece, Variable):
            held = os.environ[piece.name]
            filled = written(held, piece.escape, place)
            keep_secret(held)
            keep_secret(filled)
            return filled
        if isinstance(piece, KeyRange):
            return str(draw_key(piece, self.seed, self.counter))
        if isinstance(piece, Outside):
            values = self.row if piece.source == "row" else self.captured
            return written(values[piece.name], piece.escape, place)
        plain = {"counter": str(self.counter), "thread": "0", "fresh": self.fresh}
        return plain.get(piece.name) or random_text(self.seed, self.counter)


@dataclass
class ValueSource:
    """Gives each request of one check its values: one `fresh` for all, a new `counter` for each."""

    seed: int
    fresh: str = field(default_factory=lambda: secrets.token_hex(4))
    row: Mapping[str, str] = field(default_factory=dict)
    captured: dict[str, str] = field(default_factory=dict)
    """What the responses to earlier requests have left."""
    first: int = 1
    """The first request's `counter`."""

    def __post_init__(self) -> None:
        self._counter = itertools.count(self.first)
        # What is drawn differs from check to check, as `fresh` does.
        self._seed = word_at(self.seed, int(self.fresh, 16))

    def next(self) -> Values:
        """The values of the next request."""
        return Values(next(self._counter), self.fresh, self._seed, self.row, self.captured)
