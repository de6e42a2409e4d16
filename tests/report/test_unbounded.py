"""An interval without an end is reported as one, in every form."""

from __future__ import annotations

from pathlib import Path

from tests.judge.slices import put_slices, sliced_run
from touchstone.judge.judge import judge
from touchstone.record.evidence.slices import WarmUp
from touchstone.report import render
from touchstone.report.format import ratio_interval
from touchstone.report.view import View

RUST = "rust/std"


def test_a_contender_that_still_warms_up_is_at_least_so_fast_in_every_report(tmp_path: Path) -> None:
    rising = WarmUp(ended="budget", seconds=45.0, requests=100_000, growth=0.08)
    run = sliced_run({"go/std": 20_000.0, RUST: 15_000.0})
    for sample in run.samples:
        if sample.contender == RUST and sample.slices is not None:
            put_slices(sample, [one.rate or 0.0 for one in sample.slices.slices], rising)
    pages = {path.suffix: path.read_text(encoding="utf-8") for path in render(View(run, judge(run)), tmp_path)}
    assert {".html", ".md", ".csv", ".json"} <= pages.keys()
    assert "95 % interval at least 0.7" in pages[".md"]
    assert "inf" not in pages[".csv"]


def test_a_bound_that_nobody_knows_is_not_written_as_a_number() -> None:
    assert ratio_interval(0.75, float("inf")).startswith("at least 0.75")
    assert ratio_interval(0.0, 1.3).startswith("at most 1.3")
