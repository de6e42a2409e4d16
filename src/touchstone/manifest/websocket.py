"""A message over a WebSocket, and what its handshake and its echo may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from touchstone.manifest.base import ManifestModel

if TYPE_CHECKING:
    from touchstone.manifest.exchange import MessageRequest


class WebSocket(ManifestModel):
    """A message over a WebSocket. The request is the handshake that opens the connection, and `body` is the message:
    text, or binary with `encoding = "bytes"`. `expect.body`, `expect.pattern` and `expect.json` are about the returned
    message; by default the same message must return.
    """

    kind: Literal["echo"]
    """`echo`: one message returns for each. With `pipeline`, that number of messages is in flight on each connection,
    and their echoes come in order."""
    greetings: Annotated[int, Field(ge=0, le=1000)] = 0
    """The number of messages that the server sends by itself when a connection opens. The load starts on the
    connection after them."""


def check_message(request: MessageRequest) -> None:
    """Raise ValueError where a request with `websocket` has what a message over a WebSocket cannot have."""
    stated = request.expect.model_fields_set & {"status", "content_type", "headers", "grpc_status"}
    if request.grpc is not None:
        raise ValueError("a message over a WebSocket is not a gRPC call: leave `grpc` out")
    if request.method != "GET":
        raise ValueError("a WebSocket is opened by a GET: leave `method` out")
    if request.body is None:
        raise ValueError("a WebSocket load sends a message: name it in `body`")
    if stated:
        named = ", ".join(sorted(f"`expect.{name}`" for name in stated))
        raise ValueError(
            f"a WebSocket's handshake is answered with 101, and messages alone are checked: leave {named} out"
        )
    if request.expect.encoding == "decoded":
        raise ValueError("a message has no content coding: leave `expect.encoding` out")
