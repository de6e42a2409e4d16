"""What must not stand in a record: the values of secrets, in environments and in command lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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


def _shown_url(text: str) -> str:
    return _USER.sub(rf"\1:{_HIDDEN}@", text)


def _shown_field(word: str) -> str:
    field = _FIELD.fullmatch(word)
    if field is None or not _NAMES.search(field["name"].replace("-", "_")):
        return word
    return f"{field['option'] or ''}{field['name']}{field['colon']}{_HIDDEN}"
