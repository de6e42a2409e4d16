"""Bars of percentiles fill their latency, and the time line has what happened in the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judge.tails import paused, tail_run, window
from touchstone.judge.judge import judge
from touchstone.judge.why.tail.explain import explain_latency
from touchstone.judge.why.tail.explanation import LatencyExplanation
from touchstone.report import render
from touchstone.report.view import View
from touchstone.report.why.latency_page import bars, lanes


def test_the_pieces_of_a_bar_lie_next_to_each_other_and_fill_it() -> None:
    found = explain_latency(tail_run({"a/b": [window(paused)]}), None, "a/b", "lookup", 0.95)
    assert isinstance(found, LatencyExplanation)
    widest = max(band.total.seconds for band in found.contender.bands)
    for bar, band in zip(bars(found.contender), found.contender.bands, strict=True):
        assert sum(piece.width for piece in bar.pieces) == pytest.approx(100 * band.total.seconds / widest)
        ends = [piece.left + piece.width for piece in bar.pieces[:-1]]
        assert ends == pytest.approx([piece.left for piece in bar.pieces[1:]])


def test_lanes_are_within_the_window_and_empty_ones_are_left_out() -> None:
    found = {lane.name: lane.pieces for lane in lanes(window(paused))}
    assert set(found) == {"slow requests", "runtime stopped"}
    assert len(found["runtime stopped"]) == 20
    assert all(0 <= piece.left <= 100 and piece.width > 0 for pieces in found.values() for piece in pieces)


def test_the_page_shows_each_band_in_parts_and_the_time_line(tmp_path: Path) -> None:
    run = tail_run({"go/std": [window(paused)] * 3, "rust/std": [window()] * 3})
    run.plan.baseline = "go"
    render(View(run, judge(run)), tmp_path)
    page = (tmp_path / "report.html").read_text()
    section = page[page.index('<section id="why-p99"') :]
    assert "rust/std against go/std" in section
    assert "p99.9" in section
    assert "runtime stopped" in section
    assert "looking took" in section
