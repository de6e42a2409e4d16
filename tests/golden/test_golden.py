"""Recorded runs are judged and reported as they were."""

from __future__ import annotations

import difflib

import pytest

from tests.golden import readme
from tests.golden.golden import HERE, RUNS, expected, outputs

_SHOWN = 30
"""Lines of a difference that are worth reading."""


@pytest.mark.parametrize("name", RUNS)
def test_judgement_and_reports_are_what_they_were(name: str) -> None:
    wanted, found = expected(name), outputs(name)
    assert sorted(found) == sorted(wanted)
    changed = []
    for file, text in wanted.items():
        if found[file] != text:
            lines = difflib.unified_diff(text.splitlines(), found[file].splitlines(), "expected", "found", n=1)
            changed += [f"{name}/{file}", *[line[:300] for line, _ in zip(lines, range(_SHOWN), strict=False)]]
    assert not changed, "\n".join([*changed, "if this is wanted: python -m tests.golden"])


def test_every_run_has_its_expectation() -> None:
    assert sorted(path.name for path in (HERE / "expected").iterdir()) == RUNS


def test_readme_shows_what_is_printed_today() -> None:
    page = readme.README.read_text(encoding="utf-8")
    assert readme.block() in page, "python -m tests.golden"
    assert readme.written(page) == page
