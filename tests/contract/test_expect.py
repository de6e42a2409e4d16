"""An answer is held against an expectation byte by byte, and what differs is said."""

from __future__ import annotations

import zlib

import pytest

from touchstone.contract.expect import faults
from touchstone.contract.template import Values, ValueSource
from touchstone.contract.wire import Answer
from touchstone.manifest.exchange import Expectation

VALUES = Values(counter=7, fresh="abc", seed=1)


def expectation(**table: object) -> Expectation:
    return Expectation.model_validate(table)


def answer(body: str = "", status: int = 200, **fields: str) -> Answer:
    return Answer(status, tuple((k.replace("_", "-"), v) for k, v in fields.items()), body.encode())


def test_templates_are_filled_in() -> None:
    assert VALUES.fill("{counter} {fresh} {a*3} {brace}x}") == "7 abc aaa {x}"


def test_braces_of_json_stay_as_they_are() -> None:
    assert VALUES.fill('{"name": "{fresh}"}') == '{"name": "abc"}'


def test_fresh_stays_within_a_check_and_the_counter_moves() -> None:
    source = ValueSource(seed=1)
    first, second = source.next(), source.next()
    assert first.fresh == second.fresh
    assert first.counter != second.counter
    assert ValueSource(seed=1).next().fresh != first.fresh


def test_a_right_answer_has_no_fault() -> None:
    wanted = expectation(body="pong {fresh}", content_type="text/plain", headers={"X-A": "b+"})
    assert faults(wanted, answer("pong abc", content_type="text/plain; charset=utf-8", X_A="bb"), VALUES) == []


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        ({"status": 200}, answer(status=500), "status 500"),
        ({"status": [200, 404]}, answer(status=405), "200 or 404"),
        ({"body": "pong"}, answer("pong\n"), r"body is 'pong\n' instead of 'pong'"),
        ({"body": "1"}, answer("2"), "body is '2' instead of '1'"),
        ({"body": "pong" * 10}, answer("pong" * 9 + "ping"), "instead of 'pong"),
        ({"body": "pong" * 11}, answer("pong" * 10 + "ping"), "from byte 41 on: 44 bytes instead of 44, b'ing'"),
        ({"body": "pong" * 11}, answer("p"), "from byte 1 on: 1 byte instead of 44, b'' instead of b'ong"),
        ({"body": "pong"}, Answer(200, (), b"\xff"), r"body is b'\xff' instead of 'pong'"),
        ({"content_type": "text/plain"}, answer(content_type="text/html"), "text/html"),
        ({"headers": {"Allow": "GET"}}, answer(), "Allow is missing"),
        ({"headers": {"Allow": "GET"}}, answer(Allow="POST"), "POST"),
        ({"pattern": "[0-9]+"}, answer("12a"), "not like"),
        ({"json": {"a": 1}}, answer("{"), "not JSON"),
        ({"json": {"a": 1}}, answer("[1]"), "not an object"),
        ({"json": {"a": 1}}, answer("{}"), "missing"),
        ({"json": {"a": 1}}, answer('{"a": 2}'), "instead of 1"),
        ({"json": {"a": {"type": "integer"}}}, answer('{"a": true}'), "not a integer"),
        ({"json": {"a": 1}, "json_exact": True}, answer('{"a": 1, "b": 2}'), "should not be there: b"),
        ({"json": {"a": 1}}, answer('{"a": 1.0}'), "instead of 1"),
        ({"json": {"a": 1}}, answer('{"a": true}'), "instead of 1"),
        ({"json": {"a": {"b": 1}}}, answer('{"a": {"b": 2}}'), "instead of {'b': 1}"),
        ({"json": {"a": {"b": 1}}}, answer('{"a": {"b": 1, "c": 1}}'), "instead of {'b': 1}"),
        ({"json": {"a": {"b": 1}}}, answer('{"a": {"b": true}}'), "instead of {'b': 1}"),
        ({"json": {"a": [1, 2]}}, answer('{"a": [2, 1]}'), "instead of [1, 2]"),
        ({"json": {"a": [1, 2]}}, answer('{"a": [1, 2, 3]}'), "instead of [1, 2]"),
        ({}, Answer(None, failure="no answer: timeout"), "no answer"),
    ],
)
def test_a_wrong_answer_says_what_is_wrong(wanted: dict[str, object], given: Answer, said: str) -> None:
    assert any(said in fault for fault in faults(expectation(**wanted), given, VALUES))


def test_an_array_and_an_object_are_compared_as_a_whole() -> None:
    wanted = expectation(json={"user": {"name": "{brace}x}", "tags": ["a", {"n": 1.5}]}, "list": [True, 2]})
    told = '{"list": [true, 2], "more": 0, "user": {"tags": ["a", {"n": 1.5}], "name": "{x}"}}'
    assert faults(wanted, answer(told), VALUES) == []


def test_head_may_have_no_body() -> None:
    wanted = expectation(body="pong")
    assert faults(wanted, answer(), VALUES, body_expected=False) == []
    assert faults(wanted, answer("pong"), VALUES, body_expected=False)


def packed(text: bytes, coding: str = "gzip", *, bits: int = 31) -> Answer:
    made = zlib.compressobj(wbits=bits)
    return Answer(200, (("Content-Encoding", coding),), made.compress(text) + made.flush())


def test_a_compressed_body_is_checked_as_the_text_that_it_stands_for() -> None:
    wanted = expectation(body="pong {fresh}", encoding="decoded")
    assert faults(wanted, packed(b"pong abc"), VALUES) == []
    assert faults(wanted, packed(b"pong abc", "deflate", bits=15), VALUES) == []
    assert faults(wanted, answer("pong abc"), VALUES) == []
    assert "'pong abd' instead of 'pong abc'" in faults(wanted, packed(b"pong abd"), VALUES)[0]
    assert faults(expectation(json={"a": 1}, encoding="decoded"), packed(b'{"a": 1}'), VALUES) == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Answer(200, (("Content-Encoding", "gzip"),), b"plain"), "is said to be gzip"),
        (Answer(200, (("Content-Encoding", "br"),), b"x"), "cannot undo Content-Encoding br"),
        (Answer(200, (("Content-Encoding", "gzip"),), packed(b"pong abc").body[:-4]), "not whole"),
        (Answer(200, (("Content-Encoding", "gzip"),), packed(b"pong abc").body + b"x"), "followed by more"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_a_fault(found: Answer, said: str) -> None:
    assert said in faults(expectation(body="pong abc", encoding="decoded"), found, VALUES)[0]


def test_bytes_are_no_text() -> None:
    found = Answer(200, (), b"\x1f\x8b\x08\xff\n")
    assert faults(expectation(pattern="\x1f\x8b(.|\n)*", encoding="bytes"), found, VALUES) == []
    assert faults(expectation(body="\x1f\x8b\x08\xff\n", encoding="bytes"), found, VALUES) == []
    assert faults(expectation(body="\x1f\x8b\x08\xfe\n", encoding="bytes"), found, VALUES)
    # As text, a byte that is no UTF-8 is a character of its own.
    assert faults(expectation(pattern=".{4}\n", encoding="bytes"), found, VALUES) == []


@pytest.mark.parametrize("table", [{"encoding": "bytes"}, {"encoding": "bytes", "body": "€"}])
def test_an_encoding_that_makes_no_sense_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="bytes"):
        expectation(**table)
