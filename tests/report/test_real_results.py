"""Reports of the runs that this checkout holds, if it holds any: real records, not the fixture's."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from touchstone.judge.judge import judge
from touchstone.record.store import load_run
from touchstone.report import print_report, render
from touchstone.report.html import LIMIT

RESULTS = Path(__file__).parents[2] / "results"
FOLDERS = sorted(RESULTS.glob("*/plan.json"), key=lambda p: p.stat().st_mtime, reverse=True)[:2]


@pytest.mark.skipif(not FOLDERS, reason="no run in results/: `make run` makes one")
@pytest.mark.parametrize("plan", FOLDERS, ids=lambda p: p.parent.name)
def test_a_real_run_can_be_reported(plan: Path, tmp_path: Path) -> None:
    run = load_run(plan.parent)
    judgement = judge(run)
    paths = {path.name: path for path in render(run, judgement, tmp_path)}
    page = paths["report.html"].read_text(encoding="utf-8")
    assert len(page.encode()) <= LIMIT
    for contender in run.plan.contenders:
        assert contender.name in page
    with (tmp_path / "terminal.txt").open("w", encoding="utf-8") as file:
        print_report(Console(file=file), run, judgement)
    assert run.plan.run_id in (tmp_path / "terminal.txt").read_text(encoding="utf-8")
