"""The field guide's page holds what its records say, and the records nothing that helps an attacker."""

from __future__ import annotations

import tomllib
from functools import cache

import pytest
from benchmarks.field_guide.cells import Value
from benchmarks.field_guide.page import Page, agrees
from benchmarks.field_guide.records import GUIDE, recorded_runs, without_cases
from benchmarks.field_guide.tables import Column

from touchstone.record.run import Run

STACKS = GUIDE.parents[1] / "scenarios" / "field-guide"
COLUMN = Column("seconds", lambda _samples: None, share=0.2, least=1.5)


@cache
def runs() -> list[Run]:
    return list(recorded_runs())


def test_the_page_is_what_the_records_say() -> None:
    assert (GUIDE / "README.md").read_text(encoding="utf-8") == Page().text()


def test_of_conformance_the_records_hold_counts_alone() -> None:
    probed = [sample for run in runs() for sample in run.samples if sample.phase == "probe"]
    assert probed
    for sample in probed:
        assert sample.evidence is None
        assert sample.figures


def test_other_records_are_kept_whole() -> None:
    text = '{"phase": "stop", "evidence": {"kind": "stop"}}'
    assert without_cases(text) == text


def test_each_server_is_a_contender_with_a_guess_and_a_version_that_its_stack_fixes() -> None:
    servers = tomllib.loads((GUIDE / "servers.toml").read_text(encoding="utf-8"))
    expected = tomllib.loads((GUIDE / "expected.toml").read_text(encoding="utf-8"))
    for name, server in servers.items():
        stack, variant = name.split("/")
        assert variant in tomllib.loads((STACKS / stack / "stack.toml").read_text(encoding="utf-8"))["variants"]
        assert name in expected
        if server["from"].split()[0] in {"Go", "PyPI", "crates.io", "Maven", "npm"}:
            files = [path for path in (STACKS / stack).iterdir() if path.is_file()]
            assert any(server["version"] in path.read_text(encoding="utf-8") for path in files), name


@pytest.mark.parametrize(
    ("measured", "guess", "exact", "right"),
    [
        (5.7, 5, False, True),
        (89.0, 60, False, False),
        (75.0, "none", False, False),
        ("none", "none", False, True),
        (400, 414, True, False),
        (431, 431, True, True),
        (True, False, False, False),
    ],
)
def test_a_guess_is_right_within_what_its_column_allows(
    measured: Value, guess: Value, *, exact: bool, right: bool
) -> None:
    assert agrees(measured, guess, COLUMN, exact=exact) is right
