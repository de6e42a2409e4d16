"""What must not stand in a record: the values of secrets, in environments, command lines and requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_HIDDEN = "(hidden)"
_NAMES = re.compile(r"PASSW|SECRET|TOKEN|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTHORIZATION|COOKIE", re.I)
"""What a variable or a field of a request is called whose value is a secret."""
_USER = re.compile(r"(?<=://)([^/\s:@]*):[^/\s@]+@")
"""User and password in a URL."""
_FIELD = re.compile(r"(?P<option>-H|--header=)?(?P<name>[A-Za-z0-9-]+)(?P<colon>:\s*)\S.*", re.S)


def shown_environment(env: Mapping[str, str]) -> dict[str, str]:
    """An environment as it may stand in a record."""
    return {name: _HIDDEN if _NAMES.search(name) else _shown_url(value) for name, value in env.items()}


def shown_command(words: Sequence[str]) -> tuple[str, ...]:
    """A command line as it may stand in a record: passwords of URLs and secret fields of requests are hidden."""
    return tuple(_shown_url(_shown_field(word)) for word in words)


def shown_request(text: str) -> str:
    """A request as it may stand in a record: the values of secret fields are hidden."""
    return "\n".join(_shown_field(line) for line in text.split("\n"))


def shown_job(job: dict[str, Any]) -> dict[str, Any]:
    """A job of the engine, or a load, as it may stand in a record: the values of secret fields are hidden."""
    return {key: _shown_fields(value) if key == "headers" else _shown_within(value) for key, value in job.items()}


def _shown_within(value: Any) -> Any:
    if isinstance(value, dict):
        return shown_job(value)
    return [_shown_within(one) for one in value] if isinstance(value, list) else value


def _shown_fields(fields: Any) -> Any:
    """Of a job, whose fields are pairs, or of a load, which names each once."""
    if isinstance(fields, dict):
        return {name: _HIDDEN if _is_secret(name) else value for name, value in fields.items()}
    return [[name, _HIDDEN if _is_secret(name) else value] for name, value in fields]


def _is_secret(name: str) -> bool:
    return _NAMES.search(name.replace("-", "_")) is not None


def _shown_url(text: str) -> str:
    return _USER.sub(rf"\1:{_HIDDEN}@", text)


def _shown_field(word: str) -> str:
    field = _FIELD.fullmatch(word)
    if field is None or not _is_secret(field["name"]):
        return word
    return f"{field['option'] or ''}{field['name']}{field['colon']}{_HIDDEN}"
