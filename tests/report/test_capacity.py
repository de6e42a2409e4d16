"""Capacities in the report: the table, three curves with all contenders, and lower bounds."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.judge.bursts import burst, run_with
from tests.judge.capacities import capacity_run, search, trial, with_search
from touchstone.judge.judge import judge
from touchstone.record.evidence.capacity import SmallestBurst
from touchstone.record.run import Run
from touchstone.report import render
from touchstone.report.terminal import print_report
from touchstone.report.view import View


def printed(run: Run) -> str:
    console = Console(file=io.StringIO(), width=160)
    print_report(console, View(run, judge(run)))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("capacity")
    run = capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0], "rust/std": [12_000.0, 12_080.0, 12_010.0]})
    render(View(run, judge(run)), folder)
    return Path(folder / "report.html").read_text(encoding="utf-8")


def test_the_curves_show_latency_cpu_and_memory_of_all_contenders(page: str) -> None:
    assert "Latency p99 against offered rate" in page
    assert "CPU per request against offered rate" in page
    assert "The dashed line is the objective&#39;s bound" in page or "The dashed line is the objective's bound" in page
    assert "go/std 9 k/s" in page or "go/std 9.00 k/s" in page


def test_the_comparison_is_told_in_a_sentence() -> None:
    told = printed(capacity_run({"go/std": [9_000.0, 9_050.0, 8_990.0], "rust/std": [12_000.0, 12_080.0, 12_010.0]}))
    assert "capacity of rust/std is" in " ".join(told.split())


def test_what_the_generator_bounds_is_shown_as_at_least_so_much() -> None:
    found = search(9_000.0, "generator")
    found.trials += [trial(9_200.0, None, why="the engine worked for 99 % of the time", busy=0.3)]
    told = printed(with_search(found, 9_000.0))
    assert "\N{GREATER-THAN OR EQUAL TO} 9" in told


def test_a_burst_is_drawn_by_rate_and_over_time(tmp_path: Path) -> None:
    run = run_with(burst(4_000.0, 1.2))
    render(View(run, judge(run)), tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Goodput against offered rate in a burst" in page
    assert "Goodput before, in and after a burst" in page
    assert "offers 1.5, 2, 3 times" in page


def test_a_burst_that_says_nothing_is_not_drawn(tmp_path: Path) -> None:
    one = burst(4_000.0, 1.2)
    one.void = "the engine was the limit"
    run = run_with(one)
    render(View(run, judge(run)), tmp_path)
    assert "in a burst" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_smallest_burst_is_a_sentence() -> None:
    one = burst(400.0, None)
    one.smallest = SmallestBurst(height=2.0, window_s=6.0, returns_s=0.9, stays_s=1.0, offered=6)
    told = " ".join(printed(run_with(one)).split())
    assert "shortest burst of 2 times its capacity after which it is not back within 6.00 s: 1.00 s" in told
