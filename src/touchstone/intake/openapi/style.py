"""Values as text in path, query, header field or cookie (OpenAPI 3.1.1, 4.8.12.4; RFC 6570)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from touchstone.intake.openapi.part import UnsoundError

STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form", "cookie"),
}
"""The styles that a parameter may have, the usual one first."""
_BETWEEN = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}
_RESERVED = "/:?@!$'()*,;"
"""Reserved characters that mean nothing in a query (RFC 3986, 3.4), in which `&`, `=`, `+` and `#` do."""

Written = Callable[[str], str]


def percent(text: str) -> str:
    """Everything but unreserved characters percent-encoded (RFC 3986, 2.3)."""
    return quote(text, safe="")


def reserved(text: str) -> str:
    """As `percent`, but keeps reserved characters that a query may hold and existing percent-encoding."""
    return quote(text, safe=_RESERVED + "%") if _is_encoded(text) else quote(text, safe=_RESERVED)


def as_it_is(text: str) -> str:
    """A header field's value, in which nothing is encoded."""
    return text


def in_cookie(text: str) -> str:
    """A cookie's value, in which what no cookie may hold is percent-encoded (RFC 6265, 4.1.1)."""
    return quote(text, safe="!#$&'()*+-./:<=>?@[]^_`{|}~")


def scalar_text(value: Any) -> str:
    """A value that is neither an object nor an array; within others, JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def in_place(name: str, value: Any, style: str, *, explode: bool, encode: Written = percent) -> str:
    """A path parameter or a header field's value. Raises UnsoundError for a style that is none."""
    pairs = _pairs(value)
    if style == "simple":
        return ",".join(_words(value, encode, "=" if explode else ","))
    if style == "label":
        return "." + ("." if explode else ",").join(_words(value, encode, "=" if explode else ","))
    if style != "matrix":
        raise UnsoundError(f"there is no style {style!r} here")
    if explode and isinstance(value, list | dict):
        return "".join(f";{encode(key or name)}={encode(scalar_text(held))}" for key, held in pairs)
    return f";{encode(name)}={','.join(_words(value, encode, ','))}"


def in_pairs(name: str, value: Any, style: str, *, explode: bool, encode: Written = percent) -> list[str]:
    """A parameter of a query, a form or a cookie, as pairs. Raises UnsoundError for what the style does not say."""
    called = percent(name)
    if style == "deepObject":
        if not isinstance(value, dict) or any(isinstance(held, list | dict) for held in value.values()):
            raise UnsoundError("how `deepObject` writes anything but an object of plain values is not specified")
        return [f"{called}%5B{percent(key)}%5D={encode(scalar_text(held))}" for key, held in value.items()]
    if style not in ("form", "cookie", *_BETWEEN):
        raise UnsoundError(f"there is no style {style!r} here")
    if explode and isinstance(value, list | dict):
        return [f"{percent(key) or called}={encode(scalar_text(held))}" for key, held in _pairs(value)]
    return [f"{called}={_BETWEEN.get(style, ',').join(_words(value, encode, _BETWEEN.get(style, ',')))}"]


def _pairs(value: Any) -> list[tuple[str, Any]]:
    """Names and values of an object; values without a name of anything else."""
    if isinstance(value, dict):
        return list(value.items())
    return [("", held) for held in value] if isinstance(value, list) else [("", value)]


def _words(value: Any, encode: Written, between: str) -> list[str]:
    if isinstance(value, dict):
        return [f"{encode(key)}{between}{encode(scalar_text(held))}" for key, held in value.items()]
    return [encode(scalar_text(held)) for held in (value if isinstance(value, list) else [value])]


def _is_encoded(text: str) -> bool:
    """Whether each percent sign begins an escape."""
    return all(set(rest[:2]) <= set("0123456789abcdefABCDEF") and len(rest) > 1 for rest in text.split("%")[1:])
