"""A draft from a HAR file: the recorded session as a journey, and its pages as a contract."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.intake.conceal import conditions_of, shown_path
from touchstone.intake.draft import Draft, DraftCheck, DraftLoad, DraftRequest
from touchstone.intake.har.entry import RecordedExchange, named, read_entry
from touchstone.intake.har.value import LeftOutError
from touchstone.intake.links import RecordedResponse, with_captures

_SHORTEST_THINK_S, _LONGEST_THINK_S = 0.1, 10.0
_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
_MOST_NOTES = 100
_LONGEST_NUMBER = 1000
_NOT_MODIFIED, _NOT_LET_IN, _BUSY, _SERVER_ERROR = 304, (401, 403), 429, 500
_TIMES = {"unknown": "its time cannot be read", "local": "its time has no zone", "zoned": "its time has a zone"}


def draft_from_har(file: Path) -> Draft:
    """Read a recording. Raises UsageError that names the missing part."""
    recorded, left_out = _read(file)
    if not recorded:
        why = f": {left_out.most_common(1)[0][0]}" if left_out else ""
        raise UsageError(
            f"the HAR file holds no request that can be sent again{why}",
            where=str(file),
            fix="record the session again, with the network tools open before the page is loaded",
        )
    origin = _service(recorded)
    for one in recorded:
        if one.origin != origin:
            left_out[_plain(f"requests to {one.origin}, another service")] += 1
    session = _in_order([one for one in recorded if one.origin == origin], left_out)
    steps = [_request(one, _pause(session, number)) for number, one in enumerate(session)]
    answers = [RecordedResponse(one.set_cookies, one.answered, one.content) for one in session]
    whole = [_marked(one) for one in with_captures(steps, answers)]
    shown = (f"{one.method} {shown_path(one.target, one.taken_in_target)}" for one in whole if one.method not in _SAFE)
    writes = list(dict.fromkeys(shown))
    load = DraftLoad(
        "session",
        "The session that was recorded",
        whole,
        journey=True,
        note=f"look: each pass does this again: {', '.join(writes)}" if writes else "",
    )
    return Draft(
        f"A session with {origin}",
        file.name,
        _contract([_marked(one) for one in steps], whole),
        [load],
        notes=list(_notes(left_out, session)),
    )


def _read(file: Path) -> tuple[list[RecordedExchange], Counter[str]]:
    """The entries that can be sent again, and counts of the others by kind and reason."""
    try:
        document = json.loads(file.read_bytes(), parse_int=_integer)
    except OSError as error:
        raise UsageError(f"the HAR file cannot be read: {error}", where=str(file)) from error
    except (ValueError, RecursionError) as error:
        fix = "save it from the browser's network tools as HAR"
        raise UsageError(f"this is not a HAR file, for it is not JSON: {error}", where=str(file), fix=fix) from error
    log = document.get("log") if isinstance(document, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        fix = "save it from the browser's network tools as HAR"
        raise UsageError("this is not a HAR file: it has no list `log.entries`", where=str(file), fix=fix)
    recorded, left_out = [], Counter[str]()
    for number, entry in enumerate(entries):
        try:
            recorded.append(read_entry(entry))
        except LeftOutError as reason:
            left_out[_plain(f"{named(entry) or f'entry {number + 1}'}: {reason}")] += 1
        entries[number] = None  # what is read is not needed twice: a recording may be large
    return recorded, left_out


def _integer(digits: str) -> int | float:
    """A number; one that no computer counts to does not make the file unreadable."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else math.inf


def _plain(text: str) -> str:
    """A text that any terminal can show."""
    return text.encode("ascii", "backslashreplace").decode()


def _service(recorded: Sequence[RecordedExchange]) -> str:
    """The service of a recording: the one that gave most pages and data, else the one that was asked most.

    Others give files to pages, or count them: those answer with pictures, redirects and nothing.
    """
    counts: dict[str, list[int]] = {}
    for one in recorded:
        count = counts.setdefault(one.origin, [0, 0])
        count[0] += one.gives_data
        count[1] += 1
    return max(counts, key=lambda origin: counts[origin])


def _in_order(session: Sequence[RecordedExchange], left_out: Counter[str]) -> list[RecordedExchange]:
    """The session by its times; one without a time like most others' is left out."""
    usual = Counter(one.begun[0] for one in session).most_common(1)[0][0]
    if usual == "unknown":
        return [replace(one, begun=("unknown", 0.0)) for one in session]
    for one in session:
        if one.begun[0] != usual:
            left_out[_plain(f"{one.method} {shown_path(one.target)}: {_TIMES[one.begun[0]]}, unlike most others'")] += 1
    return sorted((one for one in session if one.begun[0] == usual), key=lambda one: one.begun[1])


def _request(one: RecordedExchange, think_s: float) -> DraftRequest:
    looks = list(one.remarks.looks)
    if one.status in _NOT_LET_IN:
        looks.append('it lets nobody in without a login or a key: docs/templates.md, "A login"')
    elif one.status >= _SERVER_ERROR or one.status == _BUSY:
        looks.append("is this a right response?")
    return DraftRequest(
        name="",
        method=one.method,
        target=one.target,
        says="",
        status=one.status,
        headers=one.headers,
        body=None if one.body is None else one.body.text,
        encoding="text" if one.body is None else one.body.encoding,
        content_type=one.media_type,
        think_s=think_s,
        guessed="; ".join(looks),
        note="; ".join(one.remarks.notes),
    )


def _marked(one: DraftRequest) -> DraftRequest:
    """The request, marked if its condition names a resource version that the service may lack."""
    if one.status != _NOT_MODIFIED or all(version in one.known for version in conditions_of(one)):
        return one
    return replace(one, guessed="the service may not have the version that the condition names")


def _pause(session: Sequence[RecordedExchange], number: int) -> float:
    """Seconds between a response and the next request; 0 where the browser did not wait."""
    if number + 1 == len(session):
        return 0.0
    here, behind = session[number], session[number + 1]
    pause = behind.begun[1] - here.begun[1] - here.took_s
    return round(min(pause, _LONGEST_THINK_S), 1) if pause >= _SHORTEST_THINK_S else 0.0


def _contract(alone: Sequence[DraftRequest], whole: Sequence[DraftRequest]) -> list[DraftRequest | DraftCheck]:
    """A check for each independent page, and one for the whole session if it holds more."""
    pages: dict[object, DraftRequest] = {}
    for one, in_session in zip(alone, whole, strict=True):
        if one.method not in _SAFE:
            break
        if not in_session.known:
            same = (one.method, one.target, *one.headers.items(), one.status)
            pages.setdefault(same, replace(one, think_s=0.0))
    if all(one.method in _SAFE and not one.known for one in whole):
        return list(pages.values())
    steps = [replace(one, think_s=0.0) for one in whole]
    return [*pages.values(), DraftCheck("session", "the recorded session gets the responses that were recorded", steps)]


def _notes(left_out: Counter[str], session: Sequence[RecordedExchange]) -> Iterator[str]:
    """What the file holds and the draft does not."""
    reasons = [f"{why} ({count} times)" if count > 1 else why for why, count in left_out.items()]
    if reasons:
        more = [f"{len(reasons) - _MOST_NOTES} more"] if len(reasons) > _MOST_NOTES else []
        yield "Left out:"
        yield from (f"- {one}" for one in [*reasons[:_MOST_NOTES], *more])
    if dropped := sorted(set().union(*(one.dropped for one in session))):
        yield f"Fields that touchstone does not take from a recording: {', '.join(dropped)}."
