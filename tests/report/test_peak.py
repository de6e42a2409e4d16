"""A start under load in every form of the report: figures, both plots, and who overtakes whom."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.judge.peaks import peak_run, peak_sample, rates
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Judgement
from touchstone.record.run import Run
from touchstone.report import render
from touchstone.report.terminal import print_report
from touchstone.report.view import View

NATIVE = rates((40, 8000))
JIT = rates((10, 2000), (30, 12_000))
SLOW = rates((40, 1000))


@pytest.fixture(scope="module")
def judged() -> tuple[Run, Judgement]:
    levels = {"kotlin/native": NATIVE, "kotlin/jvm": JIT, "ruby/plain": SLOW}
    starts = {
        name: [peak_sample(name, r, by_half_second, 0.01) for r in range(1, 6)]
        for name, by_half_second in levels.items()
    }
    run = peak_run(starts)
    return run, judge(run)


@pytest.fixture(scope="module")
def page(judged: tuple[Run, Judgement], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("peak")
    render(View(*judged), folder)
    return folder


def test_the_crossing_is_told_in_every_form(judged: tuple[Run, Judgement], page: Path) -> None:
    sentence = r"kotlin/jvm has served more in total than kotlin/native after 2\d"
    html = (page / "report.html").read_text(encoding="utf-8")
    markdown = (page / "report.md").read_text(encoding="utf-8")
    assert re.search(sentence, html)
    assert re.search(sentence, markdown)
    for terminal in (True, False):
        console = Console(file=io.StringIO(), width=120, force_terminal=terminal, no_color=True)
        print_report(console, View(*judged), details=True)
        assert isinstance(console.file, io.StringIO)
        assert re.search(sentence, re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue()))


def test_pairs_that_cross_come_first_and_the_others_are_not_silent(page: Path) -> None:
    report = json.loads((page / "report.json").read_text(encoding="utf-8"))
    assert len(report["judgement"]["crossings"]) == 3
    lines = (page / "report.md").read_text(encoding="utf-8").split("## Served in total since exec")[1].splitlines()
    told = [line for line in lines if line.startswith("- ")][:3]
    assert "after" in told[0]
    assert "ruby/plain has not served as much in total as" in told[1]


def test_both_plots_are_drawn_and_the_peak_is_marked(page: Path) -> None:
    html = (page / "report.html").read_text(encoding="utf-8")
    assert "Served in total since exec" in html
    assert "Rate since exec, second by second" in html
    assert re.search(r"Peak reached \(triangle\): .*kotlin/jvm 1\d", html)


def test_the_figures_of_the_judge_stand_in_the_table(page: Path) -> None:
    markdown = (page / "report.md").read_text(encoding="utf-8")
    table = markdown.split("## Time to peak")[1].split("##")[0]
    assert "Time to peak" in table
    assert "Rate at the peak" in table
    assert "`kotlin/jvm`" in table
