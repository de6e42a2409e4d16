"""Schemas that the server gives itself, against servers of grpcio."""

from __future__ import annotations

from pathlib import Path

import pytest

import grpc
from tests.command import touchstone
from tests.grpc.reflection import Reflect, answer, file, forbid, handler, reflect, text, whole
from tests.grpc.server import start

NOTES = "test.notes.Notes"
MEASURED = (0, 4)


def load(folder: Path, method: str, *words: str, more: list[grpc.GenericRpcHandler]) -> tuple[int, str]:
    server, port = start(more=more)
    url = f"grpc://127.0.0.1:{port}/{method}"
    done = touchstone("load", url, "-n", "20", "-c", "2", *words, cwd=folder)
    server.stop(None)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_a_method_of_each_kind_is_loaded_without_a_file(tmp_path: Path, version: str) -> None:
    note = '{"text": "n{counter}", "number": 7}'
    stream = ("--stream", "messages", "--events")
    for method, words in (
        ("Echo", ("-b", note, "--expect-body", note)),
        ("List", (*stream, "3", "--counter", "json.number")),
        ("Put", ("-b", f"{note} {note}", "--messages", "5", "--expect-body", '{"number": 10}')),
        ("Chat", ("-b", note, "--messages", "4", *stream, "4", "--expect-body", note)),
    ):
        code, said = load(tmp_path, f"{NOTES}/{method}", *words, more=[handler(version)])
        assert code in MEASURED, said
        assert "20 sent, 20 right" in said


def broken(response: bytes) -> Reflect:
    return lambda questions, _context: (response for _ in questions)


def endless(question: bytes) -> bytes:
    """A file for each name that is asked for, which imports another one."""
    name = question[2:].decode()
    return text(4, text(1, text(1, name) + text(3, f"{name}x")))


@pytest.mark.parametrize(
    ("method", "reflected", "why"),
    [
        (f"{NOTES}/Echo", None, "it has none (grpc.reflection.v1 and v1alpha are UNIMPLEMENTED)"),
        ("test.notes.Gone/Echo", reflect, 'it has no service "test.notes.Gone"; it has test.notes.Notes'),
        (f"{NOTES}/Gone", reflect, "it has Chat, Echo, List, Put"),
        (f"{NOTES}/Echo", forbid, "PERMISSION_DENIED (7): ask the owner"),
        (f"{NOTES}/Echo", broken(b"\x0a\x09"), "not a grpc.reflection.v1.ServerReflectionResponse"),
        (f"{NOTES}/Echo", broken(text(4, text(1, b"\x0a\x09"))), "is not a descriptor"),
        (f"{NOTES}/Echo", broken(text(6, b"")), "without a file"),
        (f"{NOTES}/Echo", broken(text(7, whole(1, 13) + text(2, "broken"))), "error 13: broken"),
        (f"{NOTES}/Echo", broken(file("note.proto")), "it has none"),
        (f"{NOTES}/Echo", lambda questions, _: iter([answer(next(questions))] * 2), "2 messages came"),
        (f"{NOTES}/Echo", lambda questions, _: map(endless, questions), "more than 1000 files"),
    ],
)
def test_a_server_that_gives_no_schema_is_named(
    tmp_path: Path, method: str, reflected: Reflect | None, why: str
) -> None:
    code, said = load(tmp_path, method, more=[handler("v1", reflected)] if reflected else [])
    assert code in (1, 2), said
    assert why in said
    assert "Traceback" not in said


def test_the_questions_have_the_metadata_of_the_load(tmp_path: Path) -> None:
    def guarded(questions, context):  # type: ignore[no-untyped-def]
        allowed = ("authorization", "Bearer a") in context.invocation_metadata()
        yield from reflect(questions, context) if allowed else forbid(questions, context)

    more = [handler("v1", guarded)]
    assert load(tmp_path, f"{NOTES}/Echo", more=more)[0] == 1
    code, said = load(tmp_path, f"{NOTES}/Echo", "-H", "Authorization: Bearer a", more=more)
    assert code in MEASURED, said


def test_a_service_is_asked_for_once_whichever_of_its_methods_are_called(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def counted(questions, _context):  # type: ignore[no-untyped-def]
        for question in questions:
            asked.append(question)
            yield answer(question)

    server, port = start(more=[handler("v1", counted)])
    urls = [f"grpc://127.0.0.1:{port}/{NOTES}/{method}" for method in ("Echo", "Put")]
    done = touchstone("load", *urls, "-n", "20", "-c", "2", cwd=tmp_path)
    server.stop(None)
    assert done.returncode in MEASURED, done.stdout + done.stderr
    assert len(asked) == len(set(asked)) > 0


def test_a_port_that_nobody_listens_on_is_named(tmp_path: Path) -> None:
    done = touchstone("load", f"grpc://127.0.0.1:1/{NOTES}/Echo", cwd=tmp_path)
    assert done.returncode == 1
    assert "connecting to 127.0.0.1:1: Connection refused" in done.stderr
