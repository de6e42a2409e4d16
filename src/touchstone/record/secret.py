"""Hides secrets in records: in environments, command lines, requests and responses.

A secret is known by the name that it is given: of a variable, of a field of a request, of a parameter (`password=...`).
The value of a variable that a request names (`{env.TOKEN}`) is a secret whatever it is called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

from touchstone.vocabulary.secret import names_secret, names_sent_secret

_HIDDEN = "(hidden)"
_USER = re.compile(r"(?<=://)([^/\s:@]*):[^/\s]+@")
"""User and password in a URL; an `@` that was not encoded belongs to the password."""
_PARAMETER = re.compile(
    r"""(?P<name>[\w.-]+)=(?P<value>"(?:[^"]|"")*"|'(?:[^'\\]|\\.)*'|(?:[^\s&;]|;(?!\s*[\w. -]+=))+)"""
)
"""A parameter of a query, a connection string or an option. A semicolon ends a value before another parameter."""
_FIELD = re.compile(r"(?P<option>-H|--header=)?(?P<name>[\w!#$%&'*+.^`|~-]+)(?P<colon>:\s*)(?P<value>\S.*)", re.S)
_OPTION = re.compile(r"--?[\w.-]+")
_LEAST = 4
"""Length from which a secret is searched for elsewhere: shorter ones would hide too much else."""
_GIVEN: set[str] = set()
"""What requests of this process were given by environment variables."""


def keep_secret(value: str) -> None:
    """Hide the value in all later records of this process, if it is long enough."""
    if len(value) >= _LEAST:
        _GIVEN.add(value)


def shown_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without secrets and passwords of URLs, for a record."""
    known = {password for value in env.values() for password in _passwords(value)}
    return {name: _HIDDEN if names_secret(name) or value in known else shown_text(value) for name, value in env.items()}


def shown_command(words: Sequence[str]) -> tuple[str, ...]:
    """Return a command line without passwords of URLs, secret fields and secret options, for a record."""
    return tuple(
        _HIDDEN if _OPTION.fullmatch(before) and names_secret(before) else shown_text(_shown_field(word))
        for before, word in zip(("", *words), words, strict=False)
    )


def shown_text(text: str) -> str:
    """Return a message, log line or URL without passwords and secret parameters, for a record."""
    return without(_PARAMETER.sub(partial(_shown_parameter, names_secret), _USER.sub(rf"\1:{_HIDDEN}@", text)))


def shown_target(text: str) -> str:
    """A target or a URL as it may stand in a record: more names of parameters tell a secret there than in a log."""
    return without(_PARAMETER.sub(partial(_shown_parameter, names_sent_secret), shown_text(text)))


def shown_request(text: str) -> str:
    """A request as it may stand in a record: the values of secret fields and parameters are hidden."""
    line, *rest = text.split("\n")
    return without("\n".join([shown_target(line), *map(_shown_field, rest)]))


def shown_job(job: dict[str, Any]) -> dict[str, Any]:
    """A job of the engine, or a load, as it may stand in a record: the values of secret fields are hidden."""
    return {key: _shown_within(key, value) for key, value in job.items()}


def secrets_of(fields: Iterable[tuple[str, str]]) -> list[str]:
    """What a service must not be quoted with, by the fields of a request to it: their values, and parts of those."""
    found = {part for name, value in fields if names_secret(name) for part in _parts(value)}
    return [part for part in found if len(part) >= _LEAST]


def secrets_of_request(text: str) -> list[str]:
    """The same, of a request as it was sent."""
    fields = (field for line in text.splitlines()[1:] if (field := _FIELD.fullmatch(line)))
    return secrets_of((field["name"], field["value"]) for field in fields)


def without(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets and those of environment variables, which a service may echo."""
    for secret in sorted({*secrets, *_GIVEN}, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return text


def _parts(value: str) -> Iterator[str]:
    """A value, the token behind `Bearer`, what each cookie holds."""
    yield value
    for piece in re.split(r"[;,]\s*", value):
        yield re.split(r"[=\s]", piece, maxsplit=1)[-1]


def _passwords(text: str) -> Iterator[str]:
    for match in _USER.finditer(text):
        yield unquote(match[0].removesuffix("@").partition(":")[2])


def _shown_within(key: str, value: Any) -> Any:
    if key == "headers":
        return _shown_fields(value)
    if isinstance(value, dict):
        return shown_job(value)
    if isinstance(value, list):
        return [_shown_within("", one) for one in value]
    if not isinstance(value, str):
        return value
    if key in ("target", "url"):
        return shown_target(value)
    return without(value) if key == "body" else value


def _shown_fields(fields: Any) -> Any:
    """The fields of a job (pairs) or of a load (a table), without secrets."""
    if isinstance(fields, dict):
        return {name: _HIDDEN if names_secret(name) else without(value) for name, value in fields.items()}
    return [[name, _HIDDEN if names_secret(name) else without(value)] for name, value in fields]


def _shown_parameter(is_secret: Callable[[str], bool], match: re.Match[str]) -> str:
    return f"{match['name']}={_HIDDEN}" if is_secret(match["name"]) else match[0]


def _shown_field(word: str) -> str:
    field = _FIELD.fullmatch(word)
    if field is None or not names_secret(field["name"]):
        return word
    return f"{field['option'] or ''}{field['name']}{field['colon']}{_HIDDEN}"
