"""A report says what a capacity was searched for, and what law the trials follow."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from tests.judge.bursts import burst, run_with
from tests.judge.capacities import search, with_search
from tests.judge.test_scalability import curve
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.report import render
from touchstone.report.terminal import print_report
from touchstone.report.view import View

OBJECTIVE = "The capacity is the highest rate within p99 < 50ms, errors < 0.1%."


def searched() -> Run:
    found = search(2_000.0)
    found.trials = curve([(x, 0.005 / (1 - x * 375e-6)) for x in (100, 400, 900, 1_400, 1_800, 2_100, 2_300, 2_400)])
    return with_search(found, 2_000.0)


def test_the_page_and_the_markdown_name_the_objective_and_the_law(tmp_path: Path) -> None:
    run = searched()
    render(View(run, judge(run)), tmp_path)
    for file in ("report.html", "report.md"):
        text = (tmp_path / file).read_text().replace("&lt;", "<").replace("\\<", "<")
        assert OBJECTIVE in text, file
        assert "as fast as" not in text[text.index(OBJECTIVE) - 300 : text.index(OBJECTIVE)], file
        assert "go/std would serve 186/s without concurrency" in text, file


def test_the_terminal_names_them_too() -> None:
    run, console = searched(), Console(width=400)
    with console.capture() as said:
        print_report(console, View(run, judge(run)))
    assert OBJECTIVE in said.get()
    assert "By the universal scalability law" in said.get()


def test_a_burst_has_a_sentence() -> None:
    for one, sentence in (
        (
            burst(8_820.0, 0.1),
            "sheds: at twice its capacity it answers 98 % of its capacity within 250 ms, and recovers 100 ms",
        ),
        (burst(0.0, None), "never recovers: at twice its capacity it answers 0 % of its capacity within 250 ms."),
    ):
        run, console = run_with(one), Console(width=400)
        with console.capture() as said:
            print_report(console, View(run, judge(run)))
        assert f"go/std {sentence}" in said.get()
