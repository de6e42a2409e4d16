"""Finds loads whose requests vary by a key but whose expectations accept any response."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from touchstone.check.problem import Problem
from touchstone.manifest.exchange import LoadRequest, Request, texts_of
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.template import ExternalValue, KeyRange, parse

_WITHOUT_BODY = {204, 304}
_ERRORS = 400


def check_keys(file: Path, scenario: Scenario) -> Iterator[Problem]:
    """Requests of a load that vary by a key on which their expectation does not depend.

    It is not a fault of the manifest. But a service that mixes up two users under load passes, so `check` shows it.
    """
    for name, load in scenario.loads.items():
        placed: list[tuple[tuple[str | int, ...], LoadRequest]] = [
            (("requests", place), request) for place, request in enumerate(load.requests)
        ]
        for number, journey in enumerate(load.journeys):
            placed += [(("journeys", number, "steps", place), step) for place, step in enumerate(journey.steps)]
        for place, request in placed:
            if key := _unchecked_key(request):
                streamed = ("stream",) if request.stream is not None else ()
                inside = ".".join((*streamed, "expect"))
                yield Problem(
                    file,
                    ("loads", name, *place, *streamed, "expect"),
                    f"{request.method} {request.target} varies with {key}, and the response to any other key passes",
                    f"name {key} in `{inside}.body` or `{inside}.json`, if the response depends on it",
                )


def _unchecked_key(request: Request) -> str | None:
    """The first key that a request is made of, if its expectation depends on none. None if nothing is amiss.

    A column of the rows is held by any column, since each row belongs together.
    """
    statuses = set(request.expect.statuses)
    if request.method == "HEAD" or statuses <= _WITHOUT_BODY or min(statuses) >= _ERRORS:
        return None
    texts = {place: _keys(text) for place, text in texts_of(request).items()}
    sent = [key for place, keys in texts.items() if not _is_expected(place) for key in keys]
    expected = {_source(key) for place, keys in texts.items() if _is_expected(place) for key in keys}
    return _written(sent[0]) if sent and not expected & {_source(key) for key in sent} else None


def _is_expected(place: tuple[str | int, ...]) -> bool:
    return place[0] == "expect" or place[:2] == ("stream", "expect")


def _keys(text: str) -> list[KeyRange | ExternalValue]:
    """The keys in a text: numbers from a range, and columns of the rows. A captured value stays the same in a mix."""
    found = [one for one in parse(text).placeholders if isinstance(one, KeyRange | ExternalValue)]
    return [one for one in found if isinstance(one, KeyRange) or one.source == "row"]


def _source(key: KeyRange | ExternalValue) -> object:
    return key if isinstance(key, KeyRange) else key.source


def _written(key: KeyRange | ExternalValue) -> str:
    return f"{{key:{key.low}..{key.high}}}" if isinstance(key, KeyRange) else f"{{{key.source}.{key.name}}}"
