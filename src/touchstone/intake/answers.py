"""A draft from a service that runs: each URL is asked a few times, and what stays the same makes a right response."""

from __future__ import annotations

import itertools
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from touchstone.engine.ask import AskedService, RequestValues, Response, Url, pasted_url
from touchstone.engine.client import EngineError
from touchstone.failure import UsageError
from touchstone.intake.draft import Draft, DraftLoad, DraftRequest
from touchstone.intake.parts import STREAMS
from touchstone.manifest.exchange import Request
from touchstone.manifest.template import literal
from touchstone.vocabulary.status import REDIRECTS

_ASKED = 3
_STREAM_S = 3.0
"""Time in which an endless stream shows. A response that is only slow is asked for once more."""
_PAUSE_S = 0.6
"""So that a time of day in seconds is not the same in all responses."""
_LONGEST = 2_000
"""Characters of a body that a person would read in a manifest."""
_BEGIN, _END, _LEAST = 160, 60, 24
"""Characters at both ends that identify a long body, and their least number."""
_PAGE_TITLE = re.compile(r"<title>[^<]+</title>")
_MEANT = re.compile(r"[\\.^$*+?{}\[\]|()]")
"""What means something in a regular expression, in Python's as in the engine's."""
_ANYTHING = r"[\s\S]*"
_TORN_END = re.compile(r"(?<=[>\n])[^>\n]*\Z|[\w:.+/=%-]*\Z")
_TORN_BEGIN = re.compile(r"\A[^<\n]*(?=[<\n])|\A[\w:.+/=%-]*")
"""What may be a part of something that varies, such as the first digits of a time: up to a tag, a line or a word."""
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
"""An integer is a number, too: the narrower one comes first."""
_ERROR, _SERVER_ERROR = 400, 500
_NOT_LET_IN = (401, 403)
_UNDONE = ("gzip", "x-gzip", "deflate")
"""Content codings that `expect.encoding = "decoded"` undoes."""


def draft_from_urls(urls: Sequence[str]) -> Draft:
    """Ask each URL three times with GET.

    The first is what the service is asked until it has started; the others are the load, where there are others that
    are not errors. Raises UsageError for a URL that gets no answer, or another status each time, and for a first one
    that is answered with an error.
    """
    parts = [pasted_url(url) for url in urls]
    origin = _one_service(parts)
    service = AskedService(origin)
    answers: dict[str, list[Response]] = {one.target: [] for one in parts}
    for number in range(_ASKED):
        if number:
            time.sleep(_PAUSE_S)
        for target, given in answers.items():
            given.append(_ask(service, origin, target, number))
    requests = [_request(target, given) for target, given in answers.items()]
    ready = requests[0]
    if ready.status >= _ERROR:
        raise UsageError(
            f"GET {ready.target} is answered {ready.status}: an error does not show that the service has started",
            where=origin,
            fix="name first a URL that succeeds when the service is ready, such as its health check",
        )
    others = requests[1:] or requests
    right = [one for one in others if one.status < _ERROR]
    note = "" if right else "look: all that was asked is answered with errors: ask for what the service is for"
    load = DraftLoad("mix", "A mix of requests", right or others, note=note)
    return Draft(f"What {origin} answers", origin, requests, [load], ready)


def _one_service(urls: Sequence[Url]) -> str:
    origins = {url.origin for url in urls}
    if len(origins) > 1:
        raise UsageError(f"the URLs belong to several services: {', '.join(sorted(origins))}", fix="draft one service")
    return origins.pop()


def _ask(service: AskedService, origin: str, target: str, number: int) -> Response:
    wanted = Request(target=literal(target))
    for timeout_s in (_STREAM_S, service.timeout_s):
        asked = replace(service, timeout_s=timeout_s)
        try:
            answer = asked.exchange(wanted, RequestValues(counter=number, fresh="", seed=0), whole=True)
        except EngineError as error:
            raise UsageError(
                error.what, fix="correct the name of the host, or make it known to this machine"
            ) from error
        if answer.failure is None:
            return answer
        if any(f" {kind}" in answer.failure for kind in STREAMS):
            raise UsageError(
                f"GET {target}: {answer.failure}",
                where=origin,
                fix="a stream cannot be drafted, since its response has no end: leave this URL out, and write a load "
                "with `stream` that measures its events (docs/streams.md)",
            )
        if not answer.failure.startswith("no whole answer within"):
            break
    fix = "start the service, and name a URL that it serves"
    raise UsageError(f"GET {target}: {answer.failure}", where=origin, fix=fix)


def _request(target: str, answers: Sequence[Response]) -> DraftRequest:
    statuses = [answer.status or 0 for answer in answers]
    if len(set(statuses)) > 1:
        statuses_in_words = ", ".join(map(str, statuses))
        raise UsageError(
            f"GET {target} is answered {statuses_in_words} in turn",
            fix="name a URL that gives the same status each time",
        )
    types = {answer.media_type for answer in answers}
    bodies = [_text(answer.body) for answer in answers]
    objects = [found for body in bodies if (found := _object(body)) is not None]
    answer = bodies[0] if len(set(bodies)) == 1 and len(bodies[0] or "") <= _LONGEST else None
    values, kinds = _fields(objects) if len(objects) == len(bodies) else ({}, {})
    pattern = None if answer is not None or values or kinds else _alike([body for body in bodies if body is not None])
    coding = (answers[0].field("content-encoding") or "").lower().removeprefix("identity")
    look = ["is this a right response?"] if statuses[0] >= _SERVER_ERROR else []
    if statuses[0] in _NOT_LET_IN:
        look.append('it lets nobody in without a login or a key: docs/templates.md, "A login"')
    if kinds:
        look.append(f"of these the type is checked alone: {', '.join(kinds)}")
    elif pattern:
        look.append("of the body, which is long or another one each time, what never changes is checked")
    elif answer is None and not values and not coding:
        look.append("the body is not checked: it is not text, or long, or another one each time")
    if coding:
        look.append(_coded(coding, as_it_is=answer is not None or bool(values or kinds or pattern)))
    if statuses[0] in REDIRECTS and (place := answers[0].field("location")):
        # A query may hold a secret, or another value each time.
        shown = place.partition("?")[0].partition("#")[0]
        look.append(f"it redirects to {shown}, and no redirect is followed: name that URL to load its target")
    return DraftRequest(
        name="",
        method="GET",
        target=target,
        says="",
        status=statuses[0],
        content_type=types.pop() or None if len(types) == 1 else None,
        json_types=kinds,
        json_values=values,
        json_exact=all(one.keys() == (values | kinds).keys() for one in objects),
        answer=None if values or kinds else answer,
        pattern=pattern,
        guessed="; ".join(look),
    )


def _coded(coding: str, *, as_it_is: bool) -> str:
    """What a draft says of a Content-Encoding, which it does not ask for; `as_it_is`: the body was read without it."""
    if as_it_is:
        return f"it names Content-Encoding {coding}, which was not asked for, and its body is not so encoded"
    undone = '; expect.encoding = "decoded" undoes it' if coding in _UNDONE else ""
    return f"the body is not checked: it has Content-Encoding {coding}, which was not asked for{undone}"


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _alike(bodies: Sequence[str]) -> str | None:
    """How all begin and end, with a page's title: a pattern of the whole body, if that tells it from others."""
    if len(bodies) < _ASKED:
        return None
    begin = _TORN_END.sub("", _common([body[:_BEGIN] for body in bodies]), count=1)
    rest = [body[len(begin) :] for body in bodies]
    end = _TORN_BEGIN.sub("", _common([one[-_END:][::-1] for one in rest])[::-1], count=1)
    between = [one.removesuffix(end) for one in rest]
    titles = {found[0] if (found := _PAGE_TITLE.search(one)) else "" for one in between}
    parts = [begin, titles.pop() if len(titles) == 1 else "", end]
    if sum(map(len, parts)) < _LEAST:
        return None
    return _ANYTHING.join(_MEANT.sub(r"\\\g<0>", part) for part in parts if part)


def _common(texts: Sequence[str]) -> str:
    """What all begin with."""
    columns = zip(*texts, strict=False)
    return "".join(column[0] for column in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


def _object(body: str | None) -> dict[str, Any] | None:
    try:
        found = json.loads(body or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) and found else None


def _fields(objects: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields that all have: the values of those that are the same, and the types of the others."""
    values: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    for name, held in objects[0].items():
        others = [one[name] for one in objects[1:] if name in one]
        if len(others) + 1 < len(objects):
            continue
        if all(other == held for other in others) and _may_stand(held) and len(json.dumps(held)) <= _LONGEST:
            values[name] = held
        elif kind := next((kind for kind in _JSON_TYPES if all(_is_type(one, kind) for one in (held, *others))), None):
            kinds[name] = kind
    return values, kinds


def _may_stand(held: Any) -> bool:
    """Whether a manifest can hold the value: it knows no null, and reads a table with `type` alone as a type."""
    match held:
        case dict():
            return held.keys() != {"type"} and all(map(_may_stand, held.values()))
        case list():
            return all(map(_may_stand, held))
        case float():
            return math.isfinite(held)
    return held is not None


def _is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _JSON_TYPES[name])
