"""The request language: the engine fills in, captures and compares as a second implementation does."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.oracle import Oracle
from tests.contract.raw_server import ask, replay, response, serving
from touchstone.contract.values import ValueSource, fresh_of
from touchstone.engine.ask import AskedService, RequestValues, Response
from touchstone.engine.client import EngineError
from touchstone.manifest.exchange import Request
from touchstone.manifest.journey import Capture
from touchstone.manifest.template import Place, TemplateError, literal

FILE: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "engine/exchange/tests/template_cases.json").read_text(encoding="utf-8")
)
ROWS = list(csv.DictReader(io.StringIO(FILE["rows"])))
OUTSIDE = ("no such column", "no earlier step")
"""Names that a template may not name where it stands are refused by `touchstone check`, not by the parser."""
BIG = 2**64 - 1


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["text"][:30])
def test_the_cases_of_both_readers_hold(case: dict[str, Any]) -> None:
    counter, place = case.get("counter", 7), case.get("place", "body")
    oracle = Oracle(counter, FILE["seed"], FILE["fresh"], ROWS[counter % len(ROWS)], FILE["captures"])
    if "fails" not in case:
        assert oracle.fill(case["text"], place) == case["gives"]
        return
    with pytest.raises(KeyError if case["fails"].startswith(OUTSIDE) else TemplateError) as raised:
        oracle.fill(case["text"])
    if not case["fails"].startswith(OUTSIDE):
        assert case["fails"] in str(raised.value)


PIECES = st.one_of(
    st.sampled_from(["{counter}", "{random}", "{fresh}", "{thread}", "{brace}", "{", "}", "{ a }", "é", "\r\n"]),
    st.sampled_from(["{capture.id}", "{capture.id:url}", "{capture.id:json}", '"{capture.id}"', "{x*3}"]),
    st.tuples(st.integers(0, BIG), st.integers(0, BIG), st.sampled_from(["", ":uniform", ":sequential"])).map(
        lambda drawn: f"{{key:{min(drawn[:2])}..{max(drawn[:2])}{drawn[2]}}}"
    ),
    st.integers(1, 2**40).map(lambda high: f"{{key:1..{high}:zipf}}"),
    st.text(alphabet="abc{}*:.0", max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(
    text=st.lists(PIECES, max_size=5).map("".join),
    counter=st.integers(0, BIG),
    seed=st.integers(0, BIG),
    captured=st.text(max_size=8),
    place=st.sampled_from(["target", "header", "body"]),
)
def test_the_engine_fills_in_as_a_second_implementation_does(
    text: str, counter: int, seed: int, captured: str, place: Place
) -> None:
    values = RequestValues(counter, "0123abcd", seed, {"id": captured})
    try:
        wanted = Oracle(counter, seed, "0123abcd", {}, {"id": captured}).fill(text, place)
    except (TemplateError, KeyError):
        with pytest.raises(EngineError):
            values.fill(text, place)
        return
    assert values.fill(text, place) == wanted


@pytest.mark.parametrize("text", ["{counter}", '{"a":{}}', "a{b", "{x*3}{", "{brace}", "{key:1..2}}"])
def test_a_literal_gives_the_text(text: str) -> None:
    assert RequestValues(1, "f", 0).fill(literal(text)) == text


def test_fresh_stays_within_a_check_and_the_counter_moves() -> None:
    source = ValueSource(seed=1)
    first, second = source.next(3), source.next()
    assert (first.fresh, first.seed, first.counter + 3) == (second.fresh, second.seed, second.counter)
    assert ValueSource(seed=1).next().fresh != first.fresh
    assert fresh_of(1) == fresh_of(1) != fresh_of(2)
    assert len(fresh_of(1)) == 8


def captured(wanted: dict[str, str]) -> Response:
    body = b'{"id":5,"tags":["a","b"],"a/b":{"m~n":"x y"},"deep":{"k": [1.50]},"none":null,'
    body += b'"big":12345678901234567890123}'
    with serving(replay(response(body, 201, Location="/notes/5"))) as port:
        request = Request.model_validate({"target": "/", "expect": {"status": 201}})
        captures = {"value": Capture.model_validate(wanted)}
        (answer,) = AskedService.at("127.0.0.1", port).exchanges(request, ValueSource(1).next(), captures=captures)
        return answer


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ({"json": "/id"}, "5"),
        ({"json": "/tags/1"}, "b"),
        ({"json": "/a~1b/m~0n"}, "x y"),
        ({"json": "/deep"}, '{"k":[1.50]}'),
        ({"json": "/none"}, "null"),
        ({"json": "/big"}, "12345678901234567890123"),
        ({"header": "location"}, "/notes/5"),
        ({"header": "Location", "pattern": "/notes/([0-9]+)"}, "5"),
        ({"pattern": '"id":([0-9]+)'}, "5"),
        ({"pattern": "[a-z]+"}, "id"),
    ],
)
def test_a_value_is_taken_as_it_was_sent(wanted: dict[str, str], value: str) -> None:
    assert captured(wanted).captured == {"value": value}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"json": "/tags/2"}, 'nothing is at "/tags/2"'),
        ({"json": "/id/x"}, "nothing is at"),
        ({"header": "etag"}, "the field etag, to be captured, is missing"),
        ({"header": "location", "pattern": "id=(.)"}, "nothing that id=(.) captures"),
    ],
)
def test_a_value_that_is_not_there_is_named(wanted: dict[str, str], said: str) -> None:
    answer = captured(wanted)
    assert said in answer.faults[0]
    assert answer.captured == {}


@pytest.mark.parametrize(
    "wanted", [{}, {"json": "id"}, {"json": "/id", "header": "x"}, {"json": "/id", "pattern": "x"}]
)
def test_a_capture_that_does_not_hold_together_is_refused(wanted: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"json|header"):
        Capture.model_validate(wanted)


@settings(max_examples=40, deadline=None)
@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_every_exact_spelling_of_a_double_is_the_double_and_its_neighbour_is_not(number: float) -> None:
    request = Request.model_validate({"target": "/", "expect": {"json": {"n": number}}})
    for text in (repr(number), f"{number:.17g}", f"{number:.25e}"):
        assert ask(replay(response(f'{{"n": {text}}}'.encode())), request, 5).faults == ()
    neighbour = math.nextafter(number, math.inf)
    if math.isfinite(neighbour):
        assert ask(replay(response(f'{{"n": {neighbour!r}}}'.encode())), request, 5).faults
