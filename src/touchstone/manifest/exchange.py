"""One HTTP request and what a correct response to it looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, model_validator

from touchstone.manifest.base import Part
from touchstone.manifest.template import TemplateText, parse

Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"]


class JsonType(Part):
    """A JSON field of which only the type is fixed."""

    type: Literal["string", "number", "integer", "boolean", "null", "array", "object"]


class Expectation(Part):
    """What a response must be. What is not named is not checked."""

    status: int | list[int] = 200
    """The status code, or those allowed."""
    body: TemplateText | None = None
    """The whole body, byte for byte (UTF-8), after templates are filled in."""
    pattern: TemplateText | None = None
    """A regular expression that the whole body must match."""
    encoding: Literal["text", "bytes", "decoded"] = "text"
    """How `body` and `pattern` are meant: of the bytes as UTF-8; of the bytes themselves, each character from U+0000 to
    U+00FF standing for one; or of the text that remains when the Content-Encoding (gzip, deflate) is undone, of which a
    load knows nothing."""
    json_fields: dict[str, str | int | float | bool | JsonType] | None = Field(default=None, alias="json")
    """Fields that a JSON body must hold, by value or by type."""
    json_exact: bool = False
    """True if the JSON body must hold no other field."""
    content_type: str | None = None
    """The media type, parameters left aside."""
    headers: dict[str, str] = {}
    """Fields that must be present; the value is a regular expression for the whole field value."""

    @model_validator(mode="after")
    def _one_kind_of_body(self) -> Expectation:
        kinds = [k for k in (self.body, self.pattern, self.json_fields) if k is not None]
        if len(kinds) > 1:
            raise ValueError("a body is checked in one way: body, pattern or json")
        if self.encoding == "bytes":
            written = self.body if self.body is not None else self.pattern
            if written is None:
                raise ValueError("encoding = 'bytes' goes with body or pattern")
            if any(ord(character) > 0xFF for character in written):
                raise ValueError("with encoding = 'bytes' a character stands for a byte: none beyond \\u00ff")
        for value in (self.json_fields or {}).values():
            if isinstance(value, str):
                parse(value)
        return self

    @property
    def statuses(self) -> tuple[int, ...]:
        """The status codes allowed."""
        return (self.status,) if isinstance(self.status, int) else tuple(self.status)


class Request(Part):
    """A request. Templates in target, headers, body and expectation are filled in (docs/templates.md)."""

    method: Method = "GET"
    target: TemplateText
    """The request target as it goes on the wire: percent-escapes are the author's."""
    headers: dict[str, TemplateText] = {}
    body: TemplateText | None = None
    body_file: str | None = None
    """A file next to the manifest that holds the body, in UTF-8; a template, too."""
    expect: Expectation = Expectation()

    @model_validator(mode="before")
    @classmethod
    def _body_from_file(cls, data: Any, info: ValidationInfo) -> Any:
        name = data.get("body_file") if isinstance(data, dict) else None
        folder = (info.context or {}).get("folder")
        if not isinstance(name, str) or not isinstance(folder, Path):
            return data
        if "body" in data:
            raise ValueError("a request has `body` or `body_file`, not both")
        try:
            return data | {"body": (folder / name).read_text(encoding="utf-8")}
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"body_file {name!r} cannot be read: {error}") from error


class WeightedRequest(Request):
    """A request of a load's mix."""

    name: str = "request"
    weight: Annotated[int, Field(ge=1)] = 1
