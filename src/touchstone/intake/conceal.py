"""Drafts without secrets: in place of each stands a variable of the environment, or what an earlier response gave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from touchstone.intake.parts import DraftRequest, PlaceholderText, joined, slug
from touchstone.intake.secrets import Span, in_body, in_field, in_target, scan, shapes
from touchstone.manifest.template import Escape
from touchstone.vocabulary.secret import names_secret

_LEAST = 6
"""Length from which a secret is replaced everywhere else too."""
_CONDITIONS = ("if-none-match", "if-match", "if-range", "if-modified-since", "if-unmodified-since")
"""Fields that name a version of a resource, as a response before gave it (RFC 9110, section 13.1)."""
_LONGEST_NAME = 60


class Vault:
    """The secrets of a draft, and the names of the variables that stand for them."""

    def __init__(self, requests: Sequence[DraftRequest]) -> None:
        self._called: dict[str, str] = {}
        """What names each secret, by its value."""
        self._variables: dict[str, tuple[str, str]] = {}
        """The variables in use, by name: what named the secret, and its value."""
        for one in requests:
            for span in secrets_of(one):
                self._called.setdefault(span.value, span.name)
        known = sorted((value for value in self._called if _is_distinct(value)), key=len, reverse=True)
        self._by_form: dict[str, tuple[str, Escape]] = {}
        for value in known:
            for escape, form in _forms(value).items():
                self._by_form.setdefault(form, (value, escape))
        self._anywhere = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, self._by_form))})(?!\w)") if known else None

    def conceal(self, one: DraftRequest) -> DraftRequest:
        """A request with placeholders where its secrets were, named by what is left of it."""
        target = self._text(one.target, [*one.taken_in_target, *in_target(one.target)], one.known)
        shown = re.sub(r"\{(?:env|capture)\.([\w-]+)(?::\w+)?\}", r"{\1}", target).replace("{brace}", "{")
        body = one.body and self._text(one.body, [*one.taken_in_body, *in_body(one.body, one.media_type)], one.known)
        left = self._without_answers(one)
        return replace(
            left,
            name=self.hidden(one.name) if one.name else slug(f"{one.method} {urlsplit(shown).path}"),
            says=self.hidden(one.says) if one.says else f"{one.method} {shown} is answered {one.status}",
            target=target,
            headers={name: self._field(name, held, one.known) for name, held in one.headers.items()},
            body=body,
            guessed=self.hidden(left.guessed),
            note=self.hidden(one.note),
        )

    def hidden(self, text: str) -> str:
        """A text for a person, without secrets."""
        found = list(self._elsewhere(text))
        pieces = _pieces(text, found or list(shapes(text)))
        return "".join(piece if isinstance(piece, str) else "(hidden)" for piece in pieces)

    def notes(self) -> Iterator[str]:
        """What the variables in use stand for."""
        if self._variables:
            named = ", ".join(f"{name} ({called})" for name, (called, _) in self._variables.items())
            yield f"Secrets are left out. Set these variables to them where touchstone is called: {named}."

    def _field(self, name: str, value: str, known: Mapping[str, str]) -> str:
        if name.lower() in _CONDITIONS and value in known:
            return PlaceholderText(f"{{capture.{known[value]}}}")
        return self._text(value, in_field(name, value), known)

    def _text(self, text: str, spans: Sequence[Span], known: Mapping[str, str]) -> str:
        """The template of a text. The text itself where nothing of it is secret, or it is a template."""
        if isinstance(text, PlaceholderText):
            return text
        found: list[str] = []
        for piece in _pieces(text, spans):
            inner = _pieces(piece, list(self._elsewhere(piece))) if isinstance(piece, str) else [piece]
            found += [one if isinstance(one, str) else PlaceholderText(self._placeholder(one, known)) for one in inner]
        return joined(found)

    def _elsewhere(self, text: str) -> Iterator[Span]:
        """Secrets of this draft that were found in another place."""
        for match in self._anywhere.finditer(text) if self._anywhere else ():
            value, escape = self._by_form[match[0]]
            yield Span(match.start(), match.end(), self._called[value], value, escape)

    def _placeholder(self, span: Span, known: Mapping[str, str]) -> str:
        escape = "" if span.escape == "plain" else f":{span.escape}"
        if span.value in known:
            return f"{{capture.{known[span.value]}{escape}}}"
        return f"{{env.{self._variable(span)}{escape}}}"

    def _variable(self, span: Span) -> str:
        """The variable that has a secret's value: of equal ones the same."""
        called = self._called.get(span.value, span.name)
        name, number = variable_name(called), 1
        while name in self._variables and self._variables[name][1] != span.value:
            number += 1
            name = f"{variable_name(called)}_{number}"
        self._variables.setdefault(name, (called, span.value))
        return name

    def _without_answers(self, one: DraftRequest) -> DraftRequest:
        """The request, whose right response is not compared with a secret."""
        kinds = dict(one.json_types)
        values = {}
        for name, held in one.json_values.items():
            if scan(json.dumps({name: held})) or self._is_known(json.dumps(held)):
                kinds[name] = _kind(held)
            else:
                values[name] = held
        text = one.answer if one.answer is not None else one.pattern
        secret = text is not None and bool(scan(text) or self._is_known(text))
        if not secret and len(values) == len(one.json_values):
            return one
        note = "a secret in the response is not compared"
        guessed = "; ".join(filter(None, (one.guessed, note)))
        left = replace(one, json_types=kinds, json_values=values, guessed=guessed)
        return replace(left, answer=None, pattern=None) if secret else left

    def _is_known(self, text: str) -> bool:
        return self._anywhere is not None and self._anywhere.search(text) is not None


def secrets_of(one: DraftRequest) -> list[Span]:
    """The secrets in what a request sends, but for texts that are templates already."""
    spans = [] if isinstance(one.target, PlaceholderText) else in_target(one.target)
    for name, value in one.headers.items():
        spans += [] if isinstance(value, PlaceholderText) else in_field(name, value)
    return (
        spans
        if one.body is None or isinstance(one.body, PlaceholderText)
        else [*spans, *in_body(one.body, one.media_type)]
    )


def shown_path(target: str, taken: Sequence[Span] = ()) -> str:
    """The path of a target for a person, without secrets; identifiers appear by name."""
    path = target.partition("?")[0]
    pieces = _pieces(path, [*taken, *in_target(path)])
    return "".join(one if isinstance(one, str) else f"{{{one.name}}}" if one in taken else "(hidden)" for one in pieces)


def conditions_of(one: DraftRequest) -> list[str]:
    """The versions of resources that a request names in its conditions."""
    return [value for name, value in one.headers.items() if name.lower() in _CONDITIONS]


def variable_name(called: str) -> str:
    """The name of a variable for the secret of a parameter: one that tells that it is a secret."""
    spread = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", called)
    name = re.sub(r"[^A-Z0-9]+", "_", spread.upper()).strip("_")[:_LONGEST_NAME].strip("_")
    name = name if name[:1].isalpha() else f"SECRET_{name}".strip("_")
    return name if names_secret(name) else f"{name}_SECRET"


def _is_distinct(value: str) -> bool:
    """Whether a secret differs visibly from ordinary words."""
    return len(value) >= _LEAST and not (value.isalpha() and value.islower())


def _forms(value: str) -> dict[Escape, str]:
    return {"plain": value, "url": quote(value, safe="~"), "json": json.dumps(value, ensure_ascii=False)[1:-1]}


def _pieces(text: str, spans: Sequence[Span]) -> Iterator[str | Span]:
    """A text taken apart: what stays, and the secrets in their order, the first of those that overlap."""
    at = 0
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start >= at:
            yield text[at : span.start]
            yield span
            at = span.end
    yield text[at:]


def _kind(held: Any) -> str:
    """The type of a value of JSON, in a manifest's word."""
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return kinds.get(type(held), "null")
