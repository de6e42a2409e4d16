"""A gRPC server of grpcio for the service in notes.proto, on PORT or any. It prints its port.

Messages pass as bytes: no code is generated from the schema.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from typing import Any

import grpc

SERVING = b"\x08\x01"
"""A HealthCheckResponse with the status SERVING."""


def echo(message: bytes, context: grpc.ServicerContext) -> bytes:
    """Return the message, and the caller's metadata and deadline as trailers."""
    sent = {key: value for key, value in context.invocation_metadata() if key.startswith("x-")}
    left = context.time_remaining()
    given = ("left-s", "none" if left is None else f"{left:.0f}")
    context.set_trailing_metadata((*sent.items(), given, ("x-bin", b"\x00\xff")))
    return message


def fail(message: bytes, context: grpc.ServicerContext) -> bytes:
    """End the call with the code in the first field and the text in the second."""
    code = next(one for one in grpc.StatusCode if one.value[0] == message[1])
    context.abort(code, message[4:].decode())
    raise AssertionError  # abort raises


def nothing(_message: bytes, _context: grpc.ServicerContext) -> bytes:
    """Return the message without any field."""
    return b""


def listed(message: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
    """Return notes with the numbers 1 to 3."""
    for number in range(1, 4):
        yield b"\x10" + bytes([number])


def put(messages: Iterator[bytes], _context: grpc.ServicerContext) -> bytes:
    """Return a note with the number of notes that came."""
    return b"\x10" + bytes([sum(1 for _ in messages)])


def chat(messages: Iterator[bytes], _context: grpc.ServicerContext) -> Iterator[bytes]:
    """Return each note."""
    yield from messages


def health(_message: bytes, _context: grpc.ServicerContext) -> bytes:
    """Return that the service is there."""
    return SERVING


def start(
    workers: int = 4,
    credentials: grpc.ServerCredentials | None = None,
    more: Sequence[grpc.GenericRpcHandler] = (),
) -> tuple[Any, int]:
    """Start the server, over TLS if it has credentials, with further handlers; returns it and its port."""
    server = grpc.server(futures.ThreadPoolExecutor(workers))
    unary: dict[str, Callable[..., Any]] = {"Echo": echo, "Fail": fail, "Nothing": nothing}
    methods = {name: grpc.unary_unary_rpc_method_handler(one) for name, one in unary.items()}
    methods["List"] = grpc.unary_stream_rpc_method_handler(listed)
    methods["Put"] = grpc.stream_unary_rpc_method_handler(put)
    methods["Chat"] = grpc.stream_stream_rpc_method_handler(chat)
    handlers = [*more, grpc.method_handlers_generic_handler("test.notes.Notes", methods)]
    check = {"Check": grpc.unary_unary_rpc_method_handler(health)}
    handlers.append(grpc.method_handlers_generic_handler("grpc.health.v1.Health", check))
    server.add_generic_rpc_handlers(handlers)
    address = f"127.0.0.1:{os.environ.get('PORT', '0')}"
    port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    server.start()
    return server, port


if __name__ == "__main__":
    running, number = start()
    print(number, flush=True)
    running.wait_for_termination()
