"""One HTTP request and what a correct response to it looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, model_validator

from touchstone.manifest.base import ManifestModel
from touchstone.manifest.expected_json import JsonField
from touchstone.manifest.stream import Stream, stream_texts
from touchstone.manifest.template import TemplateText, literal
from touchstone.manifest.websocket import WebSocket, check_message

Method = Literal["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"]

_LARGEST_BYTE = 0xFF
_ONE_BYTE_EACH = "with encoding = 'bytes' a character stands for a byte: none beyond \\u00ff"


class Expectation(ManifestModel):
    """What a response must be. Only the stated parts are checked."""

    status: int | list[int] = 200
    """The status code, or a list of all allowed ones."""
    grpc_status: str | list[str] | None = None
    """The status code of a gRPC call, or a list of all allowed ones, by name; by default `OK`. The message is checked
    only if the code is `OK`."""
    body: TemplateText | None = None
    """The whole body, compared byte by byte once placeholders are filled in."""
    pattern: TemplateText | None = None
    """A regular expression that the whole body must match; in a load it takes no placeholder but `{fresh}`."""
    encoding: Literal["text", "bytes", "decoded"] = "text"
    """What the body is compared as: `text` is UTF-8; with `bytes` each character from U+0000 to U+00FF stands for a
    byte; with `decoded` gzip and deflate are undone first."""
    json_fields: dict[str, JsonField] | None = Field(default=None, alias="json")
    """Top-level fields of a JSON object. A text, a number or a boolean is compared by value (`1.0` is `1`,
    `19.990000000000002` is not `19.99`), and a text may hold placeholders; `{ type = "integer" }` requires only a
    type. An array or an object is compared as a whole, with all that it holds, and takes neither placeholders nor
    types."""
    json_exact: bool = False
    """Whether any other top-level field of the JSON body is a fault."""
    content_type: str | None = None
    """The media type, such as `application/json` or `text/html; charset=utf-8`: regardless of case. The stated
    parameters must be present; others are allowed."""
    headers: dict[str, str] = {}
    """Header fields that must be there: name, and a regular expression that the whole value must match."""

    @model_validator(mode="after")
    def _one_kind_of_body(self) -> Expectation:
        kinds = [k for k in (self.body, self.pattern, self.json_fields) if k is not None]
        if len(kinds) > 1:
            raise ValueError("a body is checked in one way: body, pattern or json")
        if self.encoding == "bytes":
            written = self.body if self.body is not None else self.pattern
            if written is None:
                raise ValueError("encoding = 'bytes' goes with body or pattern")
            if any(ord(character) > _LARGEST_BYTE for character in written):
                raise ValueError(_ONE_BYTE_EACH)
        if self.encoding == "decoded" and not kinds:
            raise ValueError("encoding = 'decoded' goes with body, pattern or json: nothing else is compared decoded")
        return self

    @property
    def grpc_statuses(self) -> tuple[str, ...]:
        """The status codes of gRPC that are named."""
        return (self.grpc_status,) if isinstance(self.grpc_status, str) else tuple(self.grpc_status or ())

    @property
    def statuses(self) -> tuple[int, ...]:
        """The status codes allowed."""
        return (self.status,) if isinstance(self.status, int) else tuple(self.status)


class Request(ManifestModel):
    """A request, and the response that it must get. Placeholders such as `{counter}` make requests differ
    (docs/templates.md); `ready`, `hold.request` and `bounds.request` take `{env.NAME}` alone.
    """

    method: Method = "GET"
    """The method."""
    target: TemplateText
    """Path and query as they are sent: visible ASCII, percent-escaped where necessary. A gRPC call has no target."""
    grpc: str | None = None
    """A gRPC method, as `package.Service/Method`, that is called instead of a `target`. `body` is its message in
    JSON, and `expect.body` and `expect.json` are about the message of the response (docs/grpc.md)."""
    proto: str | None = None
    """A `.proto` file, or a descriptor set, next to the manifest: the schema of `grpc`. The health protocol needs
    none."""
    proto_path: list[str] = []
    """Folders, next to the manifest, in which imports of `proto` are searched; by default the file's folder and its
    parent folders."""
    messages: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """How often `body` is sent in one call of a gRPC method that takes a stream; by default once."""
    headers: dict[str, TemplateText] = {}
    """Header fields: name and value. `Host` replaces the service's own; `Content-Length` and `Transfer-Encoding` are
    refused, since a body is framed by its length."""
    body: TemplateText | None = None
    """The body; by default none is sent."""
    body_file: str | None = None
    """In place of `body`: a file next to the manifest that holds it, in UTF-8. Its placeholders are filled in, too.
    With `encoding = "bytes"` the file is sent as it is."""
    encoding: Literal["text", "bytes"] = "text"
    """How the body is sent: `text` is UTF-8; with `bytes` each character from U+0000 to U+00FF is one byte."""
    expect: Expectation = Expectation()
    """What the response must be; by default any response with status 200."""

    @model_validator(mode="before")
    @classmethod
    def _target_of_a_call(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict) or not isinstance(method := data.get("grpc"), str):
            return data
        call = {"target": "/" + method.removeprefix("/"), "method": "POST"}
        if any(data.get(key, value) != value for key, value in call.items()):
            raise ValueError("a gRPC call has its own method and target: leave `method` and `target` out")
        folder = (info.context or {}).get("folder")
        if isinstance(folder, Path):
            if isinstance(proto := data.get("proto"), str):
                call["proto"] = str((folder / proto).resolve())
            if isinstance(roots := data.get("proto_path"), list) and all(isinstance(one, str) for one in roots):
                return data | call | {"proto_path": [str((folder / one).resolve()) for one in roots]}
        return data | call

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
            if data.get("encoding") == "bytes":
                return data | {"body": literal((folder / name).read_bytes().decode("latin-1"))}
            return data | {"body": (folder / name).read_text(encoding="utf-8")}
        except UnicodeDecodeError as error:
            raise ValueError(f'body_file {name!r} is not UTF-8: {error}; send it with encoding = "bytes"') from error
        except OSError as error:
            raise ValueError(f"body_file {name!r} cannot be read: {error}") from error

    @model_validator(mode="after")
    def _words_of_grpc_go_with_it(self) -> Request:
        if self.grpc is None:
            if self.proto is not None or self.proto_path or self.messages is not None:
                raise ValueError(
                    "`proto`, `proto_path` and `messages` belong to a gRPC call: name its method by `grpc`"
                )
            if self.expect.grpc_status is not None:
                raise ValueError("expect.grpc_status belongs to a gRPC call: name its method by `grpc`")
        elif "status" in self.expect.model_fields_set and self.expect.statuses != (200,):
            raise ValueError("the HTTP status of a gRPC call is 200: name expect.grpc_status")
        return self

    @model_validator(mode="after")
    def _body_is_in_its_encoding(self) -> Request:
        if self.encoding == "bytes" and self.body is None:
            raise ValueError("encoding = 'bytes' goes with body or body_file")
        if self.encoding == "bytes" and any(ord(character) > _LARGEST_BYTE for character in self.body or ""):
            raise ValueError(_ONE_BYTE_EACH)
        return self


def texts_of(request: Request) -> dict[tuple[str | int, ...], str]:
    """All texts of a request in which placeholders are filled in, by their place in it."""
    expect = request.expect
    texts: dict[tuple[str | int, ...], str | None] = {("target",): request.target, ("body",): request.body}
    texts |= {("headers", name): value for name, value in request.headers.items()}
    texts |= {("expect", "body"): expect.body, ("expect", "pattern"): expect.pattern}
    fields = (expect.json_fields or {}).items()
    texts |= {("expect", "json", name): value for name, value in fields if isinstance(value, str)}
    if isinstance(request, LoadRequest) and request.stream is not None:
        texts |= stream_texts(request.stream)
    return {key: text for key, text in texts.items() if text is not None}


class MessageRequest(Request):
    """A request that may be a message over a WebSocket."""

    websocket: WebSocket | None = None
    """The request opens a WebSocket, over which `body` is sent as a message (docs/websocket.md)."""

    @model_validator(mode="after")
    def _message_fits(self) -> MessageRequest:
        if self.websocket is not None:
            check_message(self)
        return self


class LoadRequest(MessageRequest):
    """A request whose response may be a stream of events."""

    stream: Stream | None = None
    """The response is a stream of events, each of them checked and timed (docs/streams.md)."""

    @model_validator(mode="after")
    def _stream_fits(self) -> LoadRequest:
        if self.stream is None:
            return self
        if self.websocket is not None:
            raise ValueError("a message over a WebSocket is not a stream: leave `stream` out")
        expect = self.expect
        if expect.body is not None or expect.pattern is not None or expect.json_fields is not None:
            raise ValueError("a streamed response is checked event by event: move the body to `stream.expect`")
        if self.method == "HEAD":
            raise ValueError("the response to HEAD has no body, so it is not a stream")
        if self.stream.kind == "messages" and self.grpc is None:
            raise ValueError("messages are those of a gRPC call: name its method by `grpc`")
        if self.stream.kind != "messages" and self.grpc is not None:
            raise ValueError('a gRPC call streams messages: set `kind = "messages"`')
        return self


class WeightedRequest(LoadRequest):
    """A request of a load's mix."""

    name: str = "request"
    """Its name in the report."""
    weight: Annotated[int, Field(ge=1)] = 1
    """How often it is drawn, relative to the weights of the others."""
