"""Writes the site: one page over all runs, their reports, and badges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from touchstone.failure import InvalidRunError
from touchstone.history.described import DescribedSeries, described_series
from touchstone.history.entry import HistoryEntry
from touchstone.history.page import cards_of
from touchstone.history.plot import size_words
from touchstone.history.recording import MeasuredCommit, entries_of
from touchstone.judge.comparison.pair import Revision
from touchstone.judge.judge import judge
from touchstone.record.published import PublishedFigures
from touchstone.record.run import Run
from touchstone.report import html
from touchstone.report.view import View
from touchstone.site.badge import badges
from touchstone.site.board import boards_of, site_data, sources_of
from touchstone.site.published import published_boards, published_source
from touchstone.toolchain.otava import OtavaMissingError
from touchstone.whole_file import write_whole

_LEAST_RUNS = 3
"""Runs of a contender on one machine, before it is drawn over time."""
_MAGNITUDE = 0.01


def write_site(runs: Sequence[Run], out: Path, title: str, published: Sequence[PublishedFigures] = ()) -> list[Path]:
    """Write index.html, a report for each run, and badges; the paths, the page first.

    Imported results have rows on boards, and neither report nor badge: touchstone did not measure them.
    """
    ordered = sorted(runs, key=lambda run: run.started_at)
    views = [View(run, judge(run)) for run in ordered]
    reports = {number: f"runs/{view.plan.run_id}.html" for number, view in enumerate(views)}
    written = [out / "index.html"]
    for number, view in enumerate(views):
        written.append(out / reports[number])
        _write(written[-1], html.document(view))
    boards = boards_of(views)
    for name, svg in badges(boards, views):
        written.append(out / "badges" / name)
        _write(written[-1], svg)
    series, why_none = _over_time(views)
    sources = [*sources_of(views, reports), *map(published_source, published)]
    boards += published_boards(published, first=len(views))
    page = document(site_data(sources, boards), title, series, why_none)
    _write(written[0], page)
    return written


def document(data: dict[str, Any], title: str, series: Sequence[DescribedSeries] = (), why_none: str = "") -> str:
    """index.html: everything that it needs is in it."""
    packed = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        html.environment()
        .get_template("site.html")
        .render(title=title, data=data, packed=packed, cards=cards_of(series), size=size_words, why_none=why_none)
    )


def _over_time(views: Sequence[View]) -> tuple[list[DescribedSeries], str]:
    """The series of headline figures over at least three runs, and a note about them."""
    entries: list[HistoryEntry] = []
    for view in views:
        measured = MeasuredCommit(view.plan.run_id, view.run.started_at, view.plan.scenario_title)
        try:
            entries += entries_of(view.run, measured, judgement=view.judgement)
        except InvalidRunError:
            continue
    headline = [entry for entry in entries if entry.about.headline]
    note = ""
    try:
        described = described_series(headline, _MAGNITUDE, _no_commits)
    except OtavaMissingError as error:
        described = described_series(headline, _MAGNITUDE, _no_commits, find_changes=False)
        note = f"Change points are not marked: {error.what}."
    long = [one for one in described if len(one.series.entries) >= _LEAST_RUNS]
    ordered = sorted(long, key=lambda one: not one.text.changes)
    return ordered, note if long else f"No contender has {_LEAST_RUNS} runs yet."


def _no_commits(*_: str) -> Sequence[Revision]:
    return ()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
