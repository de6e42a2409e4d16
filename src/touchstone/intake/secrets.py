"""Finds secrets in what is sent: by the names of parameters, fields and members, and by the form of a value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import Message
from urllib.parse import quote, unquote

from touchstone.manifest.template import Escape
from touchstone.vocabulary.secret import names_sent_secret

_SHAPES = re.compile(
    r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]+\.[\w-]*(?:\.[\w-]*){0,2}"  # a JWT (RFC 7519), and an encrypted one
    r"|\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}"
    r"|sk-[\w-]{20,}|[rs]k_(?:live|test)_\w{10,}|whsec_\w{16,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|A(?:KIA|SIA)[A-Z0-9]{16}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{30,}|pypi-[\w-]{50,}|hf_\w{30,}|shp(?:at|ss)_\w{20,}|\d{6,}:[\w-]{30,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----"
)
"""What tells a secret wherever it stands: the forms of well-known issuers of tokens."""
_URL = re.compile(r"(?:[A-Za-z][\w+.-]{0,30}:)?/[^\s?]{0,8000}\?")
_SCHEME = re.compile(r"(?i)\b(?:Bearer|Basic|Token|ApiKey|Digest|Negotiate|NTLM) +(?=\S)")
_USERINFO = re.compile(r"(?<=://)[^/\s?#@:]{0,1000}:[^/\s?#@]{1,1000}(?=@)")
_NAMED = re.compile(r"""(?<![\w.\]-])([A-Za-z_][\w.\[\]-]{0,100})\\?["']?[ \t]{0,9}[=:][ \t]{0,9}""")
_VALUE = re.compile(r"""\\?"((?:[^"\\]|\\.){0,8000}?)\\?"|'([^'\n]{0,8000})'|([^\s&;,"'<>{}()]{1,8000})""", re.S)
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]{0,100})(?:\s[^<>]{0,1000})?>([^<>]{1,8000})</")
_LITERAL = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity")
_TOKEN = re.compile(r'\s*([\[\]{},:]|"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+)', re.S)
_COOKIE = re.compile(r"\s*([^=;]+)=([^;]*)")
_PLAIN = re.compile(r"(?i)[a-z]{0,8}|[a-z]{2}[-_][a-z]{2}|[0-9]{1,3}")
"""What a preference looks like, such as `dark`, `en-US` and `1`. Every other cookie may let somebody in."""
_WEAK_NAMES = frozenset({"key", "state", "nonce", "ticket", "hash"})
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w.~+/=-]{16,}", re.S)
"""What tells a secret under a weak name: no word, and no number."""
_NO_SECRETS = frozenset({"", "true", "false", "null", "undefined", "text", "string"})
"""Values under the name of a secret that are none: what is unset, and what drafts make up."""
_SHORTEST = 5
"""Characters of a text that can hold a name and a value."""
_DEEPEST = 6
"""Texts within texts are looked into so deep."""


@dataclass(frozen=True)
class Span:
    """A secret within a text: where it is, what names it, its value, and how that is written there."""

    start: int
    end: int
    name: str
    value: str
    escape: Escape = "plain"


def in_target(target: str) -> list[Span]:
    """The secrets of a path with its query."""
    path, mark, _ = target.partition("?")
    return _apart([*scan(path), *_of_pairs(target, len(path) + len(mark), plus=False)])


def in_field(name: str, value: str) -> list[Span]:
    """The secrets of a header field."""
    if name.lower() == "cookie":
        return [span for match in _COOKIE.finditer(value) for span in _of_cookie(match)]
    if is_secret(name, value):
        scheme = _SCHEME.match(value)
        start = scheme.end() if scheme else 0
        return [Span(start, len(value), name, value[start:])]
    return scan(value)


def in_body(body: str, content_type: str) -> list[Span]:
    """The secrets of a body; of a body of bytes each character stands for one."""
    kind = Message()
    kind["content-type"] = content_type
    if kind.get_content_type() == "application/x-www-form-urlencoded":
        return _apart(_of_pairs(body, 0, plus=True))
    boundary = kind.get_param("boundary")
    if kind.get_content_maintype() == "multipart" and isinstance(boundary, str):
        return _of_parts(body, boundary)
    return scan(body)


def scan(text: str, depth: int = 0) -> list[Span]:
    """The secrets of any text: JSON, XML, a URL, `name: value`, and what tells a secret by its form."""
    if depth < _DEEPEST and text.lstrip()[:1] in ("{", "[", '"') and (found := _of_json(text, depth)) is not None:
        return _apart([*found, *shapes(text)])
    elements = (
        Span(match.start(2), match.end(2), match[1], match[2])
        for match in _ELEMENT.finditer(text)
        if is_secret(match[1].rpartition(":")[2], match[2])
    )
    query = _URL.match(text) if depth < _DEEPEST else None
    pairs = _of_pairs(text, query.end(), plus=False, depth=depth + 1) if query else ()
    return _apart([*elements, *pairs, *_named(text), *shapes(text)])


def is_secret(name: str, value: str) -> bool:
    """Whether what is sent under a name is a secret."""
    if value.strip().lower() in _NO_SECRETS:
        return False
    if name.lower().endswith("tokens") and value.strip().isdecimal():
        return False  # a count, as in `max_tokens`
    return names_sent_secret(name) or (name.lower() in _WEAK_NAMES and _RANDOM.fullmatch(value) is not None)


def _of_pairs(text: str, at: int, *, plus: bool, depth: int = 0) -> Iterator[Span]:
    """The secrets of a query or form behind a place. With `plus`, a plus means a space."""
    while at < len(text):
        end = text.find("&", at)
        end = len(text) if end < 0 else end
        equals = text.find("=", at, end)
        yield from _of_parameter(text, at, at - 1 if equals < 0 else equals, end, plus=plus, depth=depth)
        at = end + 1


def _of_parameter(text: str, begin: int, equals: int, end: int, *, plus: bool, depth: int) -> list[Span]:
    """The secrets of one pair; one without an equals sign is a value."""
    name, raw = unquote(text[begin : max(begin, equals)]), text[equals + 1 : end]
    decoded = unquote(raw.replace("+", " ") if plus else raw)
    # A value that would not be encoded the same way again is put into the variable as it stands.
    same = "\ufffd" not in decoded and (plus or "+" not in raw)
    span = Span(equals + 1, end, name, decoded if same else raw, "url" if same else "plain")
    if is_secret(name, decoded):
        return [span]
    return _within(span, raw, decoded, scan(decoded, depth))


def _within(whole: Span, raw: str, decoded: str, inner: list[Span]) -> list[Span]:
    """Spans of a value as they stand where it is encoded. The whole value where they cannot be found there."""
    if raw == decoded:
        return [replace(one, start=whole.start + one.start, end=whole.start + one.end) for one in inner]
    found = []
    for one in inner:
        written = decoded[one.start : one.end]
        forms: dict[Escape, str] = {"plain": written, "url": quote(written, safe="~"), "json": _in_json(written)}
        escape = next((escape for escape, form in forms.items() if form in raw), None)
        if escape is None or one.value != written:
            return [whole]
        for match in re.finditer(re.escape(forms[escape]), raw):
            start = whole.start + match.start()
            found.append(Span(start, start + len(match[0]), one.name, one.value, escape))
    return found


def _of_cookie(match: re.Match[str]) -> Iterator[Span]:
    name, value = match[1].strip(), match[2].strip()
    if value and (is_secret(name, value) or not _PLAIN.fullmatch(value)):
        start = match.start(2) + len(match[2]) - len(match[2].lstrip())
        yield Span(start, start + len(value), f"cookie {name}", value)


def _of_parts(body: str, boundary: str) -> list[Span]:
    """The secrets of a multipart body (RFC 2046, section 5.1.1)."""
    spans: list[Span] = []
    begin = body.find(f"--{boundary}")
    while begin >= 0:
        after = body.find(f"--{boundary}", begin + 2)
        end = len(body) if after < 0 else after
        start = body.find("\r\n\r\n", begin, end) + 4
        if start > begin:
            head = Message()
            for line in body[begin:start].split("\r\n")[1:]:
                field, _, value = line.partition(":")
                head[field.strip()] = value.strip()
            content = body[start:end].removesuffix("\r\n")
            name = str(head.get_param("name", "", "content-disposition") or "")
            found = [Span(0, len(content), name, content)] if is_secret(name, content) else scan(content)
            spans += [replace(one, start=one.start + start, end=one.end + start) for one in found]
        begin = after
    return spans


def _of_json(text: str, depth: int) -> list[Span] | None:
    """The secrets of JSON, of one document or several; None if the text is none.

    What stands in an object or an array under the name of a secret is one, too, unless it is a plain word.
    """
    spans: list[Span] = []
    around: list[str] = []
    name, at = "", 0
    while (match := _TOKEN.match(text, at)) is not None:
        token, at = match[1], match.end()
        if token in "{[":
            around.append(name if names_sent_secret(name) else around[-1] if around else "")
        elif token in "}]":
            if not around:
                return None
            around.pop()
        elif token.startswith('"') and around and text[at : at + 99].lstrip()[:1] == ":":
            name = _unquoted(token)
            continue
        elif token == ":":
            continue
        elif token.startswith('"') or (around and _LITERAL.fullmatch(token)):
            spans += _of_json_value(match.start(1), token, name, around[-1] if around else "", depth)
        elif token != ",":
            return None
        name = ""
    return None if text[at:].strip() or around else spans


def _of_json_value(start: int, token: str, name: str, around: str, depth: int) -> list[Span]:
    """The secrets of a text, number or truth value, judged by the names around it."""
    is_text = token.startswith('"')
    decoded = _unquoted(token) if is_text else token
    quote_mark = int(is_text)
    whole = Span(
        start + quote_mark, start + len(token) - quote_mark, name or around, decoded, "json" if is_text else "plain"
    )
    if is_secret(name, decoded) or (is_secret(around, decoded) and not _PLAIN.fullmatch(decoded)):
        return [whole]
    if not is_text or len(decoded) < _SHORTEST:
        return []
    return _within(whole, token[1:-1], decoded, scan(decoded, depth + 1))


def _unquoted(token: str) -> str:
    """The text of a JSON string. A broken string, or half a character, stays as written."""
    try:
        found = json.loads(token, strict=False)
        found.encode()
    except (ValueError, RecursionError):
        return token[1:-1]
    return str(found)


def _named(text: str) -> Iterator[Span]:
    """Values behind `name=` and `name:`, and behind `Bearer` and the like. User and password of a URL."""
    at = 0
    while (match := _NAMED.search(text, at)) is not None:
        at = match.end()
        value = _VALUE.match(text, at) if names_sent_secret(match[1]) or match[1].lower() in _WEAK_NAMES else None
        if value is None:
            continue
        group = value.lastindex or 3
        start, end = value.span(group)
        if scheme := _SCHEME.match(text, start):
            start, end = scheme.end(), max(end, scheme.end() + len(text[scheme.end() :].split(maxsplit=1)[0]))
        if is_secret(match[1], text[start:end]):
            yield Span(start, end, match[1], text[start:end])
            at = end
    for match in _SCHEME.finditer(text):
        word = re.compile(r"[^\s,;\"'<>]+").match(text, match.end())
        if word is not None and _RANDOM.fullmatch(word[0]):
            yield Span(word.start(), word.end(), "authorization", word[0])
    for match in _USERINFO.finditer(text):
        yield Span(match.start(), match.end(), "userinfo secret", match[0])


def shapes(text: str) -> Iterator[Span]:
    """What tells a secret by its form alone, wherever it stands."""
    for match in _SHAPES.finditer(text):
        yield Span(match.start(), match.end(), "token", match[0])


def _apart(spans: Iterator[Span] | list[Span]) -> list[Span]:
    """In their order, without those that an earlier or a longer one covers."""
    found: list[Span] = []
    for one in sorted(spans, key=lambda span: (span.start, -span.end)):
        if one.start < one.end and (not found or one.start >= found[-1].end):
            found.append(one)
    return found


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
