"""One entry of a HAR file: a request that was answered, or the reason why it cannot be sent again."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit

from touchstone.intake.conceal import shown_path
from touchstone.intake.har.body import Body, body_of
from touchstone.intake.har.value import DraftNotes, LeftOutError, must_be_whole, number_of, table_of, text_of
from touchstone.intake.parts import STREAMS
from touchstone.manifest.exchange import Method

_LAB_SENDS = re.compile(
    r":.*|host|content-length|transfer-encoding|connection|proxy-connection|keep-alive|te|trailer|upgrade|http2-settings|"
    r"expect|proxy-authorization"
)
"""Fields of one connection, of a message's frame and of HTTP/2: touchstone sends its own where it needs them."""
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PORTS = {"http": 80, "https": 443}
_SLOWEST_S = 5.0
"""A load gives up a response that takes longer."""
_CONDITIONS = ("if-none-match", "if-modified-since", "if-match", "if-unmodified-since")
_NEEDS = {206: ("range",), 304: ("if-none-match", "if-modified-since"), 412: _CONDITIONS, 416: ("range",)}
"""Statuses that answer a condition: one of these fields made them (RFC 9110, sections 13 and 14)."""
_NO_TYPES = ("", "x-unknown", "application/x-unknown")
_MEDIA_TYPE = re.compile(r"[!#$&^_.+\w-]+/[!#$&^_.+\w-]+", re.ASCII)
_FILES = ("image", "font", "audio", "video")
_KEPT_TEXT = 1_000_000
"""Characters of a response in which later requests' values are looked for."""


@dataclass(frozen=True)
class RecordedExchange:
    """A request with its response, as it can be sent again."""

    method: str
    origin: str
    """Scheme, host and port; the port alone where it is not the scheme's own."""
    target: str
    headers: Mapping[str, str]
    """By their names in lower case, without those that touchstone sends itself."""
    body: Body | None
    status: int
    media_type: str | None
    """Media type of the response, if stated."""
    begun: tuple[str, float]
    """Whether its time has a zone: `zoned`, `local` or `unknown`; and that time in seconds."""
    took_s: float
    dropped: frozenset[str]
    """Fields that were sent and are left out here, since touchstone sends its own."""
    remarks: DraftNotes
    set_cookies: Mapping[str, str] = field(default_factory=dict)
    answered: tuple[tuple[str, str], ...] = ()
    """The response's fields."""
    content: str = ""
    """The response's body where it is text, and not too long."""

    gives_data: bool = False
    """Whether the response is a page or data: neither a file that pages are made of, nor a redirect, nor nothing."""


def named(entry: Any) -> str:
    """Method and path of an entry as far as present, for messages. Empty if it has none."""
    asked = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(asked, dict) or not isinstance(asked.get("url"), str):
        return ""
    method, url = str(asked.get("method") or "").upper()[:20], asked["url"].strip()
    scheme = url.partition(":")[0][:20]
    if scheme.lower() not in ("http", "https", "ws", "wss"):
        return f"{method or 'request'} of a {scheme}: URL"
    try:
        return f"{method} {shown_path(urlsplit(url).path or '/')[:200]}"
    except ValueError:
        return method


def read_entry(entry: Any) -> RecordedExchange:
    """Read an entry. Raises LeftOutError with the reason why its request cannot be sent again."""
    asked = table_of(entry, "request", "it has no request")
    answered = table_of(entry, "response", "it has no response")
    url = _url(text_of(asked, "url"), entry)
    status = _status(answered, entry)
    method = text_of(asked, "method").upper()
    if method not in get_args(Method):
        raise LeftOutError(f"touchstone does not send the method {method[:20]!r}")
    remarks = DraftNotes()
    fields = list(_fields(asked))
    headers, dropped = _headers(fields, remarks)
    _add_cookies(headers, asked)
    if credentials := url.netloc.rpartition("@")[0]:
        headers.setdefault("authorization", _basic(credentials))
    response = list(_fields(answered, lenient=True))
    # A redirect has a body by courtesy alone.
    media_type = None if 300 <= status < 400 else _type_of(answered, dict(response)) or None
    _must_end(entry, media_type, headers)
    _keep_conditions(headers, status, method, remarks)
    return RecordedExchange(
        method=method,
        origin=_origin(url),
        target=_target(url),
        headers=headers,
        body=body_of(asked, headers, method, _length(asked, dict(fields)), remarks),
        status=status,
        media_type=media_type,
        begun=_begun(entry),
        took_s=max(0.0, number_of(entry, "time") or 0.0) / 1000,
        dropped=dropped,
        remarks=remarks,
        set_cookies=dict(_set_cookies(answered, response)),
        answered=tuple(response),
        gives_data=(status < 300 or status == 304) and _is_data(_type_of(answered, {})),
        content=_content(answered),
    )


def _url(text: str, entry: Mapping[str, Any]) -> SplitResult:
    must_be_whole(text, "its URL")
    try:
        url = urlsplit(text)
        _ = url.port
    except ValueError as error:
        raise LeftOutError("its URL is none") from error
    if (
        url.scheme in ("ws", "wss")
        or entry.get("_webSocketMessages") is not None
        or entry.get("_resourceType") == "websocket"
    ):
        raise LeftOutError("a WebSocket")
    if url.scheme not in _PORTS:
        raise LeftOutError("no HTTP server is asked for it")
    if not url.hostname:
        raise LeftOutError("its URL names no host")
    return url


def _status(answered: Mapping[str, Any], entry: Mapping[str, Any]) -> int:
    status = number_of(answered, "status")
    errors = [one.get("_error") for one in (answered, entry)]
    error = next((text for text in errors if isinstance(text, str) and text), "")
    if error:
        raise LeftOutError(f"it was broken off: {error[:100]}")
    if not status or status < 0:
        raise LeftOutError("it was not answered")
    if not status.is_integer() or not 100 <= status <= 599:
        raise LeftOutError(f"{status:g} is not a status")
    if status < 200:
        raise LeftOutError("a WebSocket or another protocol" if status == 101 else f"{status:g} is not a final status")
    if status == 407:
        raise LeftOutError("a proxy asked for a login")
    for one in (entry, answered):
        fetched = str(one.get("_fetchType") or "")
        if one.get("_fromCache") or fetched.endswith("Cache"):
            raise LeftOutError("the browser took it from its cache")
        if one.get("_fetchedViaServiceWorker") or fetched == "Service Worker":
            raise LeftOutError("a service worker answered it")
    return int(status)


def _fields(message: Mapping[str, Any], *, lenient: bool = False) -> Iterator[tuple[str, str]]:
    """Names, in lower case, and values. Raises LeftOutError for one without a name or a value, if not `lenient`."""
    found = message.get("headers")
    if found is None:
        return
    for one in found if isinstance(found, list) else [None]:
        name = one.get("name") if isinstance(one, dict) else None
        value = one.get("value") if isinstance(one, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = str(value)
        if isinstance(name, str) and isinstance(value, str):
            yield name.lower(), value
        elif not lenient:
            raise LeftOutError(
                f"its field {name[:100]} has no value" if isinstance(name, str) else "its fields are not a list"
            )


def _headers(fields: list[tuple[str, str]], remarks: DraftNotes) -> tuple[dict[str, str], frozenset[str]]:
    """The fields to send again, equal names joined (RFC 9110, section 5.3), and those dropped."""
    kept: dict[str, str] = {}
    dropped = set()
    for name, value in fields:
        if _LAB_SENDS.fullmatch(name):
            dropped.add(name)
            continue
        if not _FIELD_NAME.fullmatch(name):
            raise LeftOutError(f"{name[:60]!a} is not a name of a field")
        plain = value.strip(" \t")
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", plain):
            raise LeftOutError(f"the field {name} holds a line end, or another control character")
        must_be_whole(plain, f"the field {name}")
        if not plain.isascii():
            remarks.looks.append(f"the field {name} is sent as UTF-8")
        kept[name] = f"{kept[name]}{'; ' if name == 'cookie' else ', '}{plain}" if name in kept else plain
    return kept, frozenset(dropped)


def _add_cookies(headers: dict[str, str], asked: Mapping[str, Any]) -> None:
    """The cookies that stand in a list of their own alone."""
    cookies = asked.get("cookies")
    if "cookie" in headers or not isinstance(cookies, list):
        return
    pairs = [(one.get("name"), one.get("value")) for one in cookies if isinstance(one, dict)]
    words = [f"{name}={value}" for name, value in pairs if isinstance(name, str) and isinstance(value, str)]
    if words:
        joined = "; ".join(words)
        if re.search(r"[\x00-\x1f\x7f]", joined):
            raise LeftOutError("a cookie holds a control character")
        must_be_whole(joined, "a cookie")
        headers["cookie"] = joined


def _basic(credentials: str) -> str:
    """The field that a browser makes of user and password in a URL (RFC 7617)."""
    plain = unquote_to_bytes(credentials if ":" in credentials else f"{credentials}:")
    return f"Basic {b64encode(plain).decode()}"


def _type_of(answered: Mapping[str, Any], fields: Mapping[str, str]) -> str:
    """The media type that the fields state, or the browser's guess where there are no fields. Empty without either."""
    content = answered.get("content")
    guessed = content.get("mimeType") if isinstance(content, dict) else None
    stated = fields.get("content-type", "") if fields else guessed if isinstance(guessed, str) else ""
    kind = stated.partition(";")[0].strip().lower()
    return kind if kind not in _NO_TYPES and _MEDIA_TYPE.fullmatch(kind) else ""


def _is_data(media_type: str) -> bool:
    kind, _, part = media_type.partition("/")
    return bool(kind) and not (kind in _FILES or part in ("css", "javascript", "x-javascript", "wasm"))


def _must_end(entry: Mapping[str, Any], media_type: str | None, headers: Mapping[str, str]) -> None:
    """Raises LeftOutError for a response that goes on, or that no load waits for."""
    asked_for = entry.get("_resourceType") == "eventsource" or "text/event-stream" in headers.get("accept", "")
    if media_type in STREAMS or (media_type is None and asked_for):
        raise LeftOutError("a stream of events, which does not end")
    timings = entry.get("timings")
    parts = [number_of(timings, name) or 0.0 for name in ("wait", "receive")] if isinstance(timings, dict) else []
    took = sum(part for part in parts if part > 0) or number_of(entry, "time") or 0.0
    if took > _SLOWEST_S * 1000:
        raise LeftOutError(
            f"its response took {took / 1000:.0f} s, and a load waits {_SLOWEST_S:g} s: a stream, or a long poll"
        )


def _keep_conditions(headers: dict[str, str], status: int, method: str, remarks: DraftNotes) -> None:
    """Raises LeftOutError for a status that answers a condition which is not in the recording."""
    if (needed := _NEEDS.get(status)) and headers.keys().isdisjoint(needed):
        raise LeftOutError(
            f"it was answered {status}, and the condition for that ({' or '.join(needed)}) is not recorded"
        )
    if status < 300 and method in ("GET", "HEAD"):
        for name in set(headers) & {"if-none-match", "if-modified-since"}:
            del headers[name]
            remarks.notes.append(f"{name} is left out: the whole was sent all the same")


def _length(asked: Mapping[str, Any], fields: Mapping[str, str]) -> int | None:
    """How many bytes the body had."""
    stated = fields.get("content-length", "")
    if stated.isascii() and stated.isdecimal() and len(stated) < 16:
        return int(stated)
    size = number_of(asked, "bodySize")
    return int(size) if size is not None and size > 0 else None


def _origin(url: SplitResult) -> str:
    host = (url.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = "" if url.port in (None, _PORTS[url.scheme]) else f":{url.port}"
    return f"{url.scheme}://{host}{port}"


def _target(url: SplitResult) -> str:
    """Path and query; what no request may hold is escaped, as browsers do."""
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    target = re.sub(r"[^!-~]", lambda found: quote(found[0]), target)
    return target if target.startswith("/") else f"/{target}"


def _begun(entry: Mapping[str, Any]) -> tuple[str, float]:
    stated = entry.get("startedDateTime")
    try:
        begun = datetime.fromisoformat(stated.strip() if isinstance(stated, str) else "")
        return ("local" if begun.tzinfo is None else "zoned"), begun.replace(tzinfo=begun.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return "unknown", 0.0


def _set_cookies(answered: Mapping[str, Any], fields: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in fields:
        for line in value.split("\n") if name == "set-cookie" else ():
            called, equals, held = line.partition(";")[0].partition("=")
            if equals:
                yield called.strip(), held.strip()
    cookies = answered.get("cookies")
    for one in cookies if isinstance(cookies, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("value"), str):
            yield one["name"], one["value"]


def _content(answered: Mapping[str, Any]) -> str:
    content = answered.get("content")
    text = content.get("text") if isinstance(content, dict) and not content.get("encoding") else None
    return text if isinstance(text, str) and len(text) <= _KEPT_TEXT else ""
