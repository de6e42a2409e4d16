"""What is captured from an answer, and what is said of one that does not hold it."""

from __future__ import annotations

import pytest

from touchstone.contract.capture import MissingError, capture
from touchstone.contract.wire import Answer
from touchstone.manifest.journey import Capture

ANSWER = Answer(
    201, (("Location", "/notes/5"),), b'{"id":5,"tags":["a","b"],"a/b":{"m~n":"x y"},"deep":{"k":[1]},"none":null}'
)


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ({"json": "/id"}, "5"),
        ({"json": "/tags/1"}, "b"),
        ({"json": "/a~1b/m~0n"}, "x y"),
        ({"json": "/deep"}, '{"k":[1]}'),
        ({"json": "/none"}, "null"),
        ({"header": "location"}, "/notes/5"),
        ({"header": "Location", "pattern": "/notes/([0-9]+)"}, "5"),
        ({"pattern": '"id":([0-9]+)'}, "5"),
        ({"pattern": "[a-z]+"}, "id"),
    ],
)
def test_a_value_is_taken(wanted: dict[str, str], value: str) -> None:
    assert capture(Capture.model_validate(wanted), ANSWER) == value


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"json": "/tags/2"}, "nothing is at '/tags/2'"),
        ({"json": "/id/x"}, "nothing is at"),
        ({"header": "etag"}, "the field etag, to be captured, is missing"),
        ({"header": "location", "pattern": "id=(.)"}, "nothing that id=(.) captures"),
    ],
)
def test_a_value_that_is_not_there_is_named(wanted: dict[str, str], said: str) -> None:
    with pytest.raises(MissingError) as raised:
        capture(Capture.model_validate(wanted), ANSWER)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "wanted", [{}, {"json": "id"}, {"json": "/id", "header": "x"}, {"json": "/id", "pattern": "x"}]
)
def test_a_capture_that_does_not_hold_together_is_refused(wanted: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"json|header"):
        Capture.model_validate(wanted)
