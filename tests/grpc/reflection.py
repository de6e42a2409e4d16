"""Server reflection of the methods of `server.py`: gRPC's messages as bytes, since no code is generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import grpc

STRING, INT64, MESSAGE = 9, 3, 11
NOT_FOUND = 5


def text(number: int, held: str | bytes) -> bytes:
    """A field of a message that is text, bytes, or a message."""
    data = held.encode() if isinstance(held, str) else held
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def whole(number: int, held: int) -> bytes:
    """A field of a message that is a number."""
    return bytes([number << 3]) + varint(held)


def varint(held: int) -> bytes:
    """A number in groups of seven bits."""
    return bytes([held & 0x7F | 0x80]) + varint(held >> 7) if held > 0x7F else bytes([held])


def method(name: str, *, takes_stream: bool = False, is_streaming: bool = False) -> bytes:
    """A MethodDescriptorProto of a method whose messages are notes."""
    ends = whole(5, takes_stream) + whole(6, is_streaming)
    return text(1, name) + text(2, ".test.notes.Note") + text(3, ".test.notes.Note") + ends


NOTE = text(1, "Note") + b"".join(
    text(2, text(1, name) + whole(3, number) + whole(4, 1) + whole(5, kind))
    for name, number, kind in (("text", 1, STRING), ("number", 2, INT64))
)
METHODS = (
    method("Echo"),
    method("List", is_streaming=True),
    method("Put", takes_stream=True),
    method("Chat", takes_stream=True, is_streaming=True),
)
SERVICE = text(1, "Notes") + b"".join(text(2, one) for one in METHODS)
FILES = {
    "service.proto": text(3, "note.proto") + text(3, "gone/options.proto") + text(6, SERVICE),
    "note.proto": text(3, "google/protobuf/empty.proto") + text(4, NOTE),
}
"""Two files, of which one imports a file that the server does not have; nor has it Google's own."""

Reflect = Callable[[Iterator[bytes], grpc.ServicerContext], Iterator[bytes]]


def file(name: str) -> bytes:
    """A ServerReflectionResponse with one file."""
    named = text(1, name) + text(2, "test.notes") + FILES[name] + text(12, "proto3")
    return text(4, text(1, named))


def error(name: str) -> bytes:
    """A ServerReflectionResponse that has no such name."""
    return text(7, whole(1, NOT_FOUND) + text(2, f"no {name}"))


def answer(question: bytes) -> bytes:
    """The response to a ServerReflectionRequest with one short text."""
    number, name = question[0] >> 3, question[2:].decode()
    listed = number == 7
    if listed:
        return text(6, text(1, text(1, "test.notes.Notes")))
    by_name = {"test.notes.Notes": "service.proto"} if number == 4 else {one: one for one in FILES}
    return file(by_name[name]) if name in by_name else error(name)


def reflect(questions: Iterator[bytes], _context: grpc.ServicerContext) -> Iterator[bytes]:
    """Answer each question."""
    yield from map(answer, questions)


def forbid(_questions: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    """Let nobody ask."""
    context.abort(grpc.StatusCode.PERMISSION_DENIED, "ask the owner")
    yield b""


def handler(version: str, reflected: Reflect = reflect) -> grpc.GenericRpcHandler:
    """The reflection service of a version, `v1` or `v1alpha`."""
    info = {"ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(reflected)}
    return grpc.method_handlers_generic_handler(f"grpc.reflection.{version}.ServerReflection", info)
