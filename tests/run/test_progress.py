from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from touchstone.run import progress


def test_a_second_run_on_one_display_counts_from_its_own_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_EVERY_S", 0.0)
    said = io.StringIO()
    display = progress.display_for(Console(file=said))
    for _ in range(2):
        display.total(2)
        display.step("load: go/plain")
        display.advance()
        display.step("load: rust/plain")
    assert [line.split()[0] for line in said.getvalue().splitlines()] == ["0/2", "1/2", "0/2", "1/2"]


def test_a_round_that_is_added_takes_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_EVERY_S", 0.0)
    said = io.StringIO()
    display = progress.display_for(Console(file=said))
    display.total(2)
    for steps in (2, 3):
        display.longer(steps)
        display.step("load: go/plain")
        display.advance()
    assert [line.split()[0] for line in said.getvalue().splitlines()] == ["0/2", "1/3"]


def test_a_step_that_takes_long_is_named_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_EVERY_S", 0.05)
    said = io.StringIO()
    shown = progress.display_for(Console(file=said))
    # Each of a command's runs enters the same display.
    for name in ("go/plain", "rust/plain"):
        with shown as display:
            display.total(1)
            display.stage("building 1 contender")
            display.step(f"building {name}")
            until = time.monotonic() + 30.0
            while said.getvalue().count(f": building {name}") < 3 and time.monotonic() < until:
                time.sleep(0.01)
        assert said.getvalue().count(f": building {name}") >= 3
    written = said.getvalue()
    time.sleep(0.2)
    assert said.getvalue() == written


def test_on_a_log_nobody_waits_longer_than_a_quarter_of_a_minute() -> None:
    assert progress._PLAIN_EVERY_S * 1.1 < 15.0
