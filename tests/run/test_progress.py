"""Lines of a log while a run goes on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from touchstone.run import progress
from touchstone.run.progress import LogDisplay


def test_a_line_says_how_far_the_run_is_and_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_EVERY_S", 0.0)
    out = io.StringIO()
    display = LogDisplay(Console(file=out, width=200))
    display.total(51)
    display.advance()
    display.step("building go/plain, rust/plain")
    assert re.fullmatch(r"  \d+ s, 1 of 51 measurements: building go/plain, rust/plain\n", out.getvalue())
