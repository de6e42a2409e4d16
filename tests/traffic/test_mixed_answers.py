"""A key is asked at rest and inside a load, and a response of another key is not one that merely differs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest

from touchstone.engine.ask import AskedService
from touchstone.manifest.load import Load
from touchstone.traffic.mixed_answers import answers_at_rest, keyed, mixed_answers, other_answers, with_key

Answer = Callable[[str], str]


def load_of(**request: Any) -> Load:
    stated = {"target": "/?name={key:1..40}", "expect": {"status": 200}} | request
    return Load.model_validate({"title": "Work", "requests": [{"name": "one", **stated}]})


@contextmanager
def service(answer: Answer) -> Iterator[AskedService]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answer(self.path.partition("=")[2]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield AskedService.at("127.0.0.1", server.server_port)
        server.shutdown()


@pytest.mark.parametrize(
    ("request_", "is_keyed"),
    [
        ({}, True),
        ({"target": "/?n={counter}"}, True),
        ({"target": "/", "headers": {"X-User": "{counter}"}}, True),
        ({"expect": {"body": "Hello {key:1..40}"}}, False),
        ({"target": "/"}, False),
        ({"target": "/?a={counter}&b={key:1..9}"}, False),
        ({"method": "POST", "body": "{counter}"}, False),
        ({"target": "/?n={fresh}"}, False),
    ],
)
def test_a_reading_request_with_one_key_that_is_left_open(request_: dict[str, Any], is_keyed: bool) -> None:
    assert bool(keyed(load_of(**request_))) == is_keyed


def test_a_key_stands_in_place_of_the_placeholder() -> None:
    (wanted,) = keyed(load_of(target="/users/{counter}?x={", headers={"X-User": "u{counter}"}))
    found = with_key(wanted, "a{counter}b")
    assert found.headers == {"X-User": "ua{brace}counter}b"}
    assert found.target == "/users/a{brace}counter}b?x={"


def mixed_by(at_rest: Answer, loaded: Answer, afterwards: Answer | None = None) -> list[tuple[str, str]]:
    """What is found of a service that answers in one way at rest, in another under load, and then as at first."""
    now = [at_rest]

    def answer(name: str) -> str:
        return now[0](name)

    with service(answer) as asked:
        sequence: Any = SimpleNamespace(
            load=load_of(), running=SimpleNamespace(service=asked), bench=SimpleNamespace(seed=1)
        )
        known = answers_at_rest(sequence, keyed(sequence.load))
        now[0] = loaded
        others = list(other_answers(known, asked, 1))
        now[0] = afterwards or at_rest
        return [(one.target, one.fits) for one in mixed_answers(known, others, sequence)]


def user(name: str) -> str:
    return json.dumps({"id": int(name) * 7, "name": f"u{name}", "mail": f"u{name}@example.test"})


def test_the_answer_of_another_user_is_found_by_the_key_in_its_place() -> None:
    found = mixed_by(user, lambda name: user("39") if name == "1" else user(name))
    assert {target for target, _ in found} == {"/?name=1"}


def test_the_answer_of_another_key_that_was_asked_is_found_without_a_key_in_it() -> None:
    def answer(name: str) -> str:
        return "abcdefghijklmnopqrstuvwxyz" * (1 + int(name) % 3) + chr(65 + int(name) % 26)

    assert mixed_by(answer, lambda name: answer("10") if name == "1" else answer(name))


@pytest.mark.parametrize(
    ("at_rest", "loaded", "afterwards"),
    [
        (user, user, None),
        (user, lambda name: "busy", None),
        (user, lambda name: user(name)[:-1] + ', "node": 2}', None),
        (user, lambda name: user("2"), lambda name: user("2")),
    ],
    ids=["sound", "an-error-page", "another-instance", "changed-for-good"],
)
def test_what_is_right_or_differs_in_another_way_is_no_mixing(
    at_rest: Answer, loaded: Answer, afterwards: Answer | None
) -> None:
    assert mixed_by(at_rest, loaded, afterwards) == []


def test_a_body_that_differs_at_rest_is_left_out() -> None:
    counted = iter(range(10_000))
    assert mixed_by(lambda name: f"{name} {next(counted)}", lambda name: user("2")) == []
