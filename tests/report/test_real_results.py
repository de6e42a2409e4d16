"""Reports of real runs, judged by the real judge: the golden runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from tests.golden.golden import RUNS, recorded_run
from touchstone.judge.judge import judge
from touchstone.report import print_report, render
from touchstone.report.html import LIMIT
from touchstone.report.view import View


@pytest.mark.parametrize("name", RUNS)
def test_a_golden_run_can_be_reported(name: str, tmp_path: Path) -> None:
    run, folder = recorded_run(name), tmp_path
    judgement = judge(run)
    paths = {path.name: path for path in render(View(run, judgement), folder)}
    page = paths["report.html"].read_text(encoding="utf-8")
    assert len(page.encode()) <= LIMIT
    for contender in run.plan.contenders:
        assert contender.name in page
    with (folder / "terminal.txt").open("w", encoding="utf-8") as file:
        print_report(Console(file=file), View(run, judgement))
    assert run.plan.run_id in (folder / "terminal.txt").read_text(encoding="utf-8")
