"""A user, as a client sends it and as it is answered."""

import json
from dataclasses import dataclass
from typing import Any

FIELDS = {"name", "email", "age"}
MAX_AGE = 150


class InvalidUserError(Exception):
    """The body holds no valid user."""


@dataclass(frozen=True, slots=True)
class User:
    name: str
    email: str
    age: int

    @classmethod
    def from_json(cls, body: bytes) -> "User":
        try:
            sent = json.loads(body.decode(), object_pairs_hook=_without_doubles)
        except (ValueError, RecursionError) as error:
            raise InvalidUserError from error
        if not isinstance(sent, dict) or sent.keys() != FIELDS:
            raise InvalidUserError
        # Neither is true an integer here, nor 1e1: json reads that as a float.
        if type(sent["age"]) is not int or not 0 <= sent["age"] <= MAX_AGE:
            raise InvalidUserError
        return cls(_text(sent["name"]), _text(sent["email"]), sent["age"])

    def to_json(self, number: int) -> bytes:
        """The answer for this user under the id that it got."""
        row = {"id": number, "name": self.name, "email": self.email, "age": self.age}
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


def _text(value: object) -> str:
    """A string that is Unicode text without NUL, which PostgreSQL cannot hold."""
    if not isinstance(value, str) or "\0" in value:
        raise InvalidUserError
    try:
        value.encode()
    except UnicodeEncodeError as error:  # half a surrogate pair
        raise InvalidUserError from error
    return value
