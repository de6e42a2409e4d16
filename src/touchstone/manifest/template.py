"""Templates: text in which `{counter}`, `{key:1..500}`, `{row.name}` and the like are filled in, request by request.

One rule for braces: a brace stands for itself, as JSON and regular expressions want it, unless it opens a placeholder.
What looks like a placeholder and is none is an error, never text (docs/templates.md). Here manifests are checked; the
engine fills in (`engine/exchange/src/template`), and `engine/exchange/tests/template_cases.json` holds both readers to
the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal, get_args
from urllib.parse import quote

from pydantic import AfterValidator, Field

from touchstone.manifest.base import DocumentedAs

Name = Literal["counter", "random", "thread", "fresh"]
Escape = Literal["plain", "url", "json"]
Distribution = Literal["uniform", "zipf", "sequential"]
Place = Literal["target", "header", "body"]
"""Where a template stands: in a target and a header, a value from outside must not end the line."""

_NAMES: tuple[Name, ...] = get_args(Name)
_ESCAPES: tuple[Escape, ...] = ("url", "json")
_DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)
_PLACE = re.compile(r"\{\{|\{([a-z][A-Za-z0-9._:-]*)\}|\{([^{}])\*([0-9]+)\}", re.DOTALL)
_VARIABLE = re.compile(r"\{env\.([A-Za-z0-9._:-]+)\}")
_NOT_IN_TARGET = re.compile(rb"[^!-~]")
_NOT_IN_HEADER = re.compile(rb"[\x00-\x1f\x7f]")
_KEY = re.compile(r"([0-9]+)\.\.([0-9]+)(?::(.*))?", re.DOTALL)
_LARGEST_NUMBER = 2**64 - 1
_LONGEST_REPEAT = 16 * 2**20
_MOST_OF_ZIPF = 2**40


class TemplateError(ValueError):
    """Text that looks like a placeholder and is none."""


@dataclass(frozen=True)
class BuiltInValue:
    """A value that every request has, by its placeholder's name."""

    name: Name


@dataclass(frozen=True)
class KeyRange:
    """A number from `low` to `high`, both included."""

    low: int
    high: int
    distribution: Distribution


@dataclass(frozen=True)
class ExternalValue:
    """A value from outside: a column of the rows, or what an earlier step captured."""

    source: Literal["row", "capture"]
    name: str
    escape: Escape


@dataclass(frozen=True)
class Variable:
    """The value of an environment variable of touchstone's own, which no record shows."""

    name: str
    escape: Escape


Piece = str | BuiltInValue | KeyRange | ExternalValue | Variable


@dataclass(frozen=True)
class Template:
    """Text taken apart: what stands as it is, and what is filled in."""

    pieces: tuple[Piece, ...]

    @property
    def placeholders(self) -> Iterator[BuiltInValue | KeyRange | ExternalValue | Variable]:
        """What is filled in, in order."""
        return (piece for piece in self.pieces if not isinstance(piece, str))

    def names(self, source: Literal["row", "capture"]) -> list[str]:
        """The columns, or the captured values, that it names."""
        return [
            piece.name for piece in self.placeholders if isinstance(piece, ExternalValue) and piece.source == source
        ]


@lru_cache(maxsize=4096)
def parse(text: str) -> Template:
    """Take `text` apart. Raises TemplateError."""
    pieces: list[Piece] = []
    at = 0
    for match in _PLACE.finditer(text):
        pieces.append(text[at : match.start()])
        pieces.append(_piece(match, text))
        at = match.end()
    pieces.append(text[at:])
    return Template(tuple(piece for piece in pieces if piece != ""))


def literal(text: str) -> str:
    """A template in which nothing is filled in, and which gives `text`."""
    for written in (text, _PLACE.sub(lambda match: "{brace}" + match[0][1:], text)):
        with contextlib.suppress(TemplateError):
            if "".join(map(str, parse(written).pieces)) == text:
                return written
    return text.replace("{", "{brace}")


def with_variables(text: str, place: Place, given: Callable[[str], None] = lambda _: None) -> str:
    """The template with the values of environment variables in it, and a template still.

    `given` sees each value: as it is, as it is written, and as it is in the template. A variable that is not set is
    empty: the check of the manifest has refused it.
    """

    def value(match: re.Match[str]) -> str:
        variable = _variable(match[1])
        held = os.environ.get(variable.name, "")
        filled = written(held, variable.escape, place)
        in_template = filled.replace("{", "{brace}")
        for form in (held, filled, in_template):
            given(form)
        return in_template

    return _VARIABLE.sub(value, text)


def written(value: str, escape: Escape, place: Place) -> str:
    """A value from outside as its placeholder and the place where that stands want it."""
    if escape == "url":
        return quote(value, safe="~")
    if escape == "json":
        return json.dumps(value, ensure_ascii=False)[1:-1]
    if place == "body":
        return value
    refused = _NOT_IN_TARGET if place == "target" else _NOT_IN_HEADER
    return refused.sub(lambda byte: f"%{ord(byte[0]):02X}".encode(), value.encode()).decode()


def _piece(match: re.Match[str], text: str) -> Piece:
    whole, words, character, count = match[0], match[1], match[2], match[3]
    if whole == "{{":
        shown = text[match.start() : match.start() + 20]
        raise TemplateError(
            f"{shown!r}: braces stand for themselves and are not doubled: write one, or {{brace}}{{brace}} if two are "
            "meant"
        )
    if character:
        if len(count.lstrip("0")) > 9 or int(count) * len(character.encode()) > _LONGEST_REPEAT:
            raise TemplateError(f"{whole} is larger than 16 MiB")
        return character * int(count)
    if words.startswith("key:"):
        return _key(whole, words.removeprefix("key:"))
    for source in ("row", "capture"):
        if words.startswith(f"{source}."):
            return _outside(source, words.removeprefix(f"{source}."))
    if words.startswith("env."):
        return _variable(words.removeprefix("env."))
    if words == "brace":
        return "{"
    for name in _NAMES:
        if words == name:
            return BuiltInValue(name)
    raise TemplateError(
        f"{whole} is not a placeholder; there are {{counter}}, {{random}}, {{thread}}, {{fresh}}, {{key:1..500}}, "
        "{row.NAME}, {capture.NAME}, {env.NAME} and {x*10}; {brace} is a brace"
    )


def _key(whole: str, text: str) -> KeyRange:
    _, colon, named = text.partition(":")
    distribution = next((one for one in _DISTRIBUTIONS if one == named), None) if colon else "uniform"
    if distribution is None:
        raise TemplateError(f"{whole}: {named} is not a distribution; there are uniform, zipf and sequential")
    match = _KEY.fullmatch(text)
    if match is None or max(low := int(match[1]), high := int(match[2])) > _LARGEST_NUMBER:
        raise TemplateError(f"{whole}: write the range as LOW..HIGH, both in decimal")
    if high < low:
        raise TemplateError(f"{whole}: the range ends before it begins")
    if distribution == "zipf" and high - low >= _MOST_OF_ZIPF:
        raise TemplateError(f"{whole}: zipf draws from at most 2^40 keys")
    return KeyRange(low, high, distribution)


def _outside(source: Literal["row", "capture"], words: str) -> ExternalValue:
    return ExternalValue(source, *_named(words))


def _variable(words: str) -> Variable:
    return Variable(*_named(words))


def _named(words: str) -> tuple[str, Escape]:
    """The name of a value from outside, and how the value is written."""
    name, colon, escape = words.partition(":")
    if not colon:
        return name, "plain"
    known = next((one for one in _ESCAPES if one == escape), None)
    if known is None:
        raise TemplateError(f"{words}: a value is written as it is, or by :url or :json")
    return name, known


def _valid(text: str) -> str:
    parse(text)
    return text


def placeholder(*fitting: str) -> str:
    """A regular expression that finds a placeholder whose inside fits none of these expressions."""
    return rf"\{{(?!(?:{'|'.join(fitting)})\}})[a-z][A-Za-z0-9._:-]*\}}"


CONSTANT = ("brace",)
"""The inside of a placeholder that is filled in alike in every request, as a regular expression."""
OUTSIDE = tuple(rf"{source}\.[A-Za-z0-9._-]*(?::(?:{'|'.join(_ESCAPES)}))?" for source in ("row", "capture", "env"))
"""The insides of placeholders whose values come from outside: rows, captures, the environment."""
_ALL = (*_NAMES, *CONSTANT, *OUTSIDE, rf"key:[0-9]+\.\.[0-9]+(?::(?:{'|'.join(_DISTRIBUTIONS)}))?")

TemplateText = Annotated[
    str,
    AfterValidator(_valid),
    Field(json_schema_extra={"not": {"pattern": rf"\{{\{{|{placeholder(*_ALL)}"}}),
    DocumentedAs("text with placeholders", "texts with placeholders"),
]
"""A text of a manifest in which placeholders are filled in."""
