"""Responses that fit another key: a service that shares a value among requests mixes them up while it is loaded.

Where a load's expectation does not depend on its key, any answer passes. So single keys are asked at rest, and again
between the requests of the load.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from touchstone.contract.values import ValueSource
from touchstone.engine.ask import AskedService, Response
from touchstone.manifest.exchange import LoadRequest, Request, texts_of
from touchstone.manifest.load import Load
from touchstone.manifest.rows import read_rows
from touchstone.manifest.template import BuiltInValue, ExternalValue, KeyRange, literal, parse
from touchstone.record.sample import MixedAnswer
from touchstone.traffic.sequence import LoadSequence

_Key = BuiltInValue | KeyRange | ExternalValue
_KEYS, _TIMES, _MOST_REQUESTS = 4, 16, 2
_QUICK_S = 0.25
"""A response that takes longer leaves no time for more of them."""
_MOST_S = 0.8
"""For all keys of a contender while it is loaded."""
_LOOKED_AT, _SHOWN_BYTES = 6, 200
_CONTEXTS, _PLACES = (12, 6, 3), 4
"""Characters in front of a key in a body, by which another body's key is found; and places to look at."""
_KEY = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True)
class KeyAtRest:
    """A key of a request, and the body that its response has at rest."""

    wanted: LoadRequest
    key: str
    body: bytes

    @property
    def request(self) -> Request:
        """The request of this key alone."""
        return with_key(self.wanted, self.key)


def keyed(load: Load) -> Sequence[LoadRequest]:
    """The reading requests with one varying key on which their expectation does not depend."""
    wanted = [one for one in load.requests if one.method == "GET" and one.stream is None and one.grpc is None]
    return [one for one in wanted if _key_of(one) is not None and not _has_key(one, "expect")][:_MOST_REQUESTS]


def answers_at_rest(sequence: LoadSequence, requests: Sequence[LoadRequest]) -> list[KeyAtRest]:
    """The bodies of some keys of each request that are the same twice."""
    source = ValueSource(sequence.bench.seed)
    found = []
    for wanted in requests:
        for key in _keys(wanted, sequence.load):
            one, two = (_asked(sequence, with_key(wanted, key), source) for _ in range(2))
            if not one.failure and (one.status, one.body) == (two.status, two.body) and one.took_s < _QUICK_S:
                found.append(KeyAtRest(wanted, key, one.body))
    return found


def other_answers(known: Sequence[KeyAtRest], loaded: AskedService, seed: int) -> Iterator[tuple[KeyAtRest, Response]]:
    """The responses of a loaded service that differ from those at rest, each with its key."""
    source, deadline = ValueSource(seed), time.monotonic() + _MOST_S
    for one in list(known) * _TIMES:
        if time.monotonic() > deadline:
            return
        answer = loaded.exchange(one.request, source.next())
        if not answer.failure and not _is(answer, one.body):
            yield one, answer


def mixed_answers(
    known: Sequence[KeyAtRest], others: Sequence[tuple[KeyAtRest, Response]], sequence: LoadSequence
) -> list[MixedAnswer]:
    """The responses among these that are right for another key, as the service says at rest.

    A key whose body has changed for good meanwhile is left out: a clock, a counter.
    """
    source, found = ValueSource(sequence.bench.seed), []
    for one, answer in others[:_LOOKED_AT]:
        if _asked(sequence, one.request, source).body != one.body:
            continue
        keys = dict.fromkeys(_other_keys(one, answer, known))
        fits = (key for key in keys if _is(answer, _asked(sequence, with_key(one.wanted, key), source).body))
        if (key := next(fits, None)) is not None:
            received = answer.body.decode(errors="replace")[:_SHOWN_BYTES]
            found.append(MixedAnswer(target=one.request.target, received=received, fits=key))
    return found


def with_key(wanted: LoadRequest, key: str) -> Request:
    """A load's request with a fixed key in place of its varying one."""
    piece = _key_of(wanted)

    def fixed(text: str) -> str:
        escape = quote if isinstance(piece, ExternalValue) and piece.escape == "url" else str
        pieces = parse(text).pieces
        return "".join(literal(one if isinstance(one, str) else escape(key)) for one in pieces)

    fields = {name: fixed(value) for name, value in wanted.headers.items()}
    return Request(target=fixed(wanted.target), headers=fields, expect=wanted.expect)


def _key_of(wanted: LoadRequest) -> _Key | None:
    """The one placeholder of a request; None for several, and if its value decides nothing."""
    pieces = {piece for _, text in _texts(wanted) for piece in parse(text).placeholders}
    key = next(iter(pieces)) if len(pieces) == 1 else None
    match key:
        case KeyRange() | BuiltInValue("counter") | ExternalValue("row"):
            return key
    return None


def _has_key(wanted: LoadRequest, part: str) -> bool:
    return any(list(parse(text).placeholders) for place, text in texts_of(wanted).items() if place[0] == part)


def _texts(wanted: LoadRequest) -> Iterator[tuple[object, str]]:
    return ((place, text) for place, text in texts_of(wanted).items() if place[0] != "expect")


def _keys(wanted: LoadRequest, load: Load) -> list[str]:
    """Some keys that the load draws: of rows the first."""
    piece = _key_of(wanted)
    if isinstance(piece, KeyRange):
        step = max(1, (piece.high - piece.low) // _KEYS)
        return [str(number) for number in range(piece.low, piece.high + 1, step)][:_KEYS]
    if isinstance(piece, ExternalValue):
        return [read_rows(Path(load.rows)).first[piece.name]] if load.rows else []
    return [str(number) for number in range(1, _KEYS + 1)]


def _asked(sequence: LoadSequence, request: Request, source: ValueSource) -> Response:
    return sequence.running.service.exchange(request, source.next(), whole=True)


def _is(answer: Response, body: bytes) -> bool:
    """Whether a response has this body: of a long one it holds the beginning."""
    return answer.body_bytes == len(body) and body.startswith(answer.body)


def _other_keys(one: KeyAtRest, answer: Response, known: Sequence[KeyAtRest]) -> Iterator[str]:
    """Keys that a response may be of: those asked, and the one in the place where its own key should be."""
    yield from (other.key for other in known if other.key != one.key and other.body == answer.body)
    right, received = one.body.decode(errors="replace"), answer.body.decode(errors="replace")
    for match in islice(re.finditer(re.escape(one.key), right), _PLACES):
        # The longest text in front of the key that the other body has as well.
        befores = (right[max(0, match.start() - length) : match.start()] for length in _CONTEXTS)
        before = next((text for text in befores if text in received), "")
        if before and (other := _KEY.match(received, received.index(before) + len(before))):
            yield other[0]
