"""The figures of all runs as boards: one for a figure under a load of a scenario, with all contenders of all runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from touchstone.judge.comparison.rank import Interval, rank_groups, ranked_intervals
from touchstone.judge.judgement import Comparison, Estimate, Verdict
from touchstone.record.sample import TARE
from touchstone.report.format import Scale, decimals_for, scale_for
from touchstone.report.sentence import machine
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import FIGURES, Better, Figure


@dataclass(frozen=True)
class BoardRow:
    """A contender of one run."""

    run: int
    estimate: Estimate
    group: int | None
    """Its rank group within its run; None where it has no interval."""
    ranked: Interval | None
    """The interval that separates it from others of its run."""


@dataclass(frozen=True)
class Board:
    """A figure under one load of a scenario."""

    scenario: str
    title: str
    """The load or phase, as reports call it."""
    figure: Figure
    rows: Sequence[BoardRow]

    @cached_property
    def scale(self) -> Scale:
        """The scale in which all rows are shown."""
        return scale_for((row.estimate.median for row in self.rows), self.figure.unit)


def boards_of(views: Sequence[View]) -> list[Board]:
    """The boards of all runs: headline figures, in the order in which reports show them."""
    rows: dict[tuple[str, PhaseAndLoad, str], list[BoardRow]] = {}
    titles: dict[tuple[str, PhaseAndLoad], str] = {}
    for number, view in enumerate(views):
        for place in view.places:
            titles.setdefault((view.plan.scenario, place), view.title(place))
            for figure in view.figures(place, headline=True):
                found, compared = _estimates(view, place, figure), _comparisons(view, place, figure)
                key = view.plan.scenario, place, figure.name
                rows.setdefault(key, []).extend(ranked_rows(number, list(found), list(compared), figure.name))
    return [
        Board(scenario, titles[scenario, place], FIGURES[figure], held)
        for (scenario, place, figure), held in sorted(rows.items(), key=lambda one: one[0][1].phase != "load")
    ]


def ranked_rows(
    run: int, estimates: Sequence[Estimate], comparisons: Sequence[Comparison], figure: str
) -> list[BoardRow]:
    """The rows of a run on a board, with their rank groups within it."""
    intervals = ranked_intervals(estimates, comparisons)
    groups = rank_groups(intervals, figure)
    return [BoardRow(run, e, groups.get(e.contender), intervals.get(e.contender)) for e in estimates]


def sources_of(views: Sequence[View], reports: Mapping[int, str]) -> list[dict[str, str]]:
    """What the page says of each run."""
    return [
        {
            "id": view.plan.run_id,
            "scenario": view.plan.scenario,
            "date": view.run.started_at.strftime("%Y-%m-%d %H:%M"),
            "machine": machine(view),
            "verdict": str(view.judgement.verdict),
            "report": reports.get(number, ""),
        }
        for number, view in enumerate(views)
    ]


def site_data(sources: Sequence[Mapping[str, str]], boards: Sequence[Board]) -> dict[str, Any]:
    """The data of the page, in the units in which it shows them. Rows name their run by its place among the sources."""
    contenders = list(dict.fromkeys(row.estimate.contender for board in boards for row in board.rows))
    numbers = {name: number for number, name in enumerate(contenders)}
    return {
        "runs": list(sources),
        "contenders": contenders,
        "boards": [
            {
                "scenario": board.scenario,
                "place": board.title,
                "figure": board.figure.title,
                "unit": board.scale.suffix,
                "better": _BETTER[board.figure.better],
                "rows": [_row(row, numbers, board.scale) for row in board.rows],
            }
            for board in boards
        ],
    }


_BETTER = {Better.HIGHER: 1, Better.LOWER: -1, Better.NEITHER: 0}
_VERDICTS = list(Verdict)


def _estimates(view: View, place: PhaseAndLoad, figure: Figure) -> Iterable[Estimate]:
    for contender in view.contenders:
        found = view.estimate(place, contender.name, figure.name)
        if found is not None and found.median is not None and found.contender != TARE:
            yield found


def _comparisons(view: View, place: PhaseAndLoad, figure: Figure) -> Iterable[Comparison]:
    for contender in view.contenders:
        found = view.comparison(place, contender.name, figure.name)
        if found is not None:
            yield found


def _row(row: BoardRow, numbers: Mapping[str, int], scale: Scale) -> list[Any]:
    e = row.estimate
    decimals = decimals_for(e.median, scale, e.low, e.high)
    shown = [_shown(value, scale, decimals) for value in (e.median, e.low, e.high)]
    ends = () if row.ranked is None or row.ranked == (e.low, e.high) else [_rounded(end) for end in row.ranked]
    return [row.run, numbers[e.contender], *shown, row.group or 0, _VERDICTS.index(e.verdict), *ends]


def _rounded(ratio: float) -> float:
    return float(f"{ratio:.5g}")


def _shown(value: float | None, scale: Scale, decimals: int) -> float | None:
    """The value in the unit of its board, as fine as reports show it."""
    if value is None or not math.isfinite(value):
        return None
    rounded = round(value / scale.factor, decimals)
    return int(rounded) if rounded == int(rounded) else rounded
