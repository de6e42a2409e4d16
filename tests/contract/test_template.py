"""The lab's half of the template language; the cases are the engine's as well."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from touchstone.contract.template import Values, fresh_of
from touchstone.manifest.template import TemplateError, literal

FILE: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "engine/load/tests/template_cases.json").read_text(encoding="utf-8")
)
ROWS = list(csv.DictReader(io.StringIO(FILE["rows"])))
OUTSIDE = ("no such column", "no earlier step")
"""Names that a template may not name where it stands are refused by `touchstone check`, not by the parser."""


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["text"][:30])
def test_the_cases_of_both_halves_hold(case: dict[str, Any]) -> None:
    counter = case.get("counter", 7)
    values = Values(counter, FILE["fresh"], FILE["seed"], ROWS[counter % len(ROWS)], FILE["captures"])
    if "fails" not in case:
        assert values.fill(case["text"], case.get("place", "body")) == case["gives"]
        return
    with pytest.raises(KeyError if case["fails"].startswith(OUTSIDE) else TemplateError) as raised:
        values.fill(case["text"])
    if not case["fails"].startswith(OUTSIDE):
        assert case["fails"] in str(raised.value)


def test_a_loads_fresh_text_follows_from_its_seed() -> None:
    assert fresh_of(1) == fresh_of(1) != fresh_of(2)
    assert len(fresh_of(1)) == 8


@pytest.mark.parametrize("text", ["{counter}", '{"a":{}}', "{{counter}", "a{{b", "{x*3}{", "{brace}", "{key:1..2}}"])
def test_a_literal_gives_the_text(text: str) -> None:
    assert Values(1, "f", 0).fill(literal(text)) == text
