"""The reports tell what a dependency does by itself, and how fast its disk is, next to what was asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.fixture import make_judgement, make_run
from touchstone.record.run import Run
from touchstone.record.sample import DependencyState
from touchstone.report import render
from touchstone.report.headroom import headroom_lines
from touchstone.report.view import PhaseAndLoad, View


@pytest.fixture
def used() -> Run:
    run = make_run()
    for sample in run.samples:
        if sample.phase == "load" and sample.result:
            state = DependencyState(name="database", kind="postgres", ceiling=40_000.0, sessions_peak=8)
            state.settings, state.after = {"synchronous_commit": "on"}, {"disk_fsync_per_s": 838.0}
            sample.dependencies = [state]
    return run


def test_ceiling_demand_sessions_and_disk_are_told(used: Run) -> None:
    sample = next(s for s in used.samples if s.phase == "load" and s.result)
    (line,) = headroom_lines(View(used, make_judgement(used)), PhaseAndLoad("load", sample.load))
    assert "Database by itself answers 40,000/s" in line
    assert "at most 8 sessions were open" in line
    assert "838 writes a second durable, one after the other; commits wait for it" in line


def test_a_load_that_opened_no_session_says_nothing_of_it(used: Run) -> None:
    for sample in used.samples:
        for state in sample.dependencies:
            state.sessions_peak = 0
    view = View(used, make_judgement(used))
    assert not any(headroom_lines(view, PhaseAndLoad("load", load)) for load in {s.load for s in used.samples})


def test_both_forms_that_are_read_show_it(used: Run, tmp_path: Path) -> None:
    for report in render(View(used, make_judgement(used)), tmp_path, only=["markdown", "html"]):
        assert "by itself answers 40,000/s" in report.read_text(encoding="utf-8")
