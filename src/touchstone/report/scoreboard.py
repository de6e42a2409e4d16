"""The scoreboard that a report opens with: contenders by the figures that lead, in groups instead of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from touchstone.judge.judgement import Verdict
from touchstone.record.load_spec import LoadSpec
from touchstone.record.sample import TARE
from touchstone.report.format import decimals_for
from touchstone.report.table import TableCell, TableColumn, TableRow, column_of, grouped, row_of
from touchstone.report.view import PhaseAndLoad, View
from touchstone.vocabulary.figure import FIGURES, Better, FigureGroup, Unit

LEAST = {
    "still-warming-up": "is still warming up",
    "still-rising": "is still warming up",
    "capacity-beyond-generator": "was not brought to its limit",
}
"""Findings after which a rate is the least that it can be, and what they say of the contender."""
GROWING = "memory-grows"
"""The finding that says the same of memory under load."""
AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"
_GROUPS = {"better": "ahead", "equivalent": "level", "undecided": "undecided", "none": "undecided", "worse": "behind"}
_ORDER = ["ahead", "level", "undecided", "behind", "", "exhibit", "invalid", "not measured"]


@dataclass(frozen=True)
class ScoreRow:
    """A contender on the scoreboard."""

    row: TableRow
    group: str
    """Where the leading figure puts it against the baseline: one of `_ORDER`; empty if it was not put against it."""


@dataclass(frozen=True)
class Scoreboard:
    """The table, its columns from the most telling on."""

    columns: list[TableColumn]
    heads: list[str]
    """The load or phase of a column, where the figure's title alone would not say it."""
    rows: list[ScoreRow]


def scoreboard(view: View) -> Scoreboard | None:
    """The scoreboard of a run, or None if nothing was measured that stands on one."""
    columns = list(_columns(view))
    if not columns:
        return None
    return Scoreboard(columns, [_head(view, column, columns) for column in columns], _rows(view, columns))


def _rows(view: View, columns: list[TableColumn]) -> list[ScoreRow]:
    rows = [_scored(view, row_of(view, contender, columns), columns) for contender in view.contenders]
    return sorted(rows, key=_order)


@dataclass(frozen=True)
class ScoreboardSection:
    """The figures that lead, of one load or phase."""

    title: str
    columns: list[TableColumn]
    rows: list[ScoreRow]


def sections(view: View) -> list[ScoreboardSection]:
    """The leading figures load by load, those of building and starting last. A section without a figure is left out."""
    found = [(title, [column for p in places for column in _scored_at(view, p)]) for _, title, places in grouped(view)]
    return [ScoreboardSection(title, columns, _rows(view, columns)) for title, columns in found if columns]


def why_at_least(view: View, contender: str, load: str | None) -> str | None:
    """Why the contender's rate under this load is at least what was measured. None if it is what was measured."""
    counted = {
        sample
        for e in view.judgement.estimates
        if (e.contender, e.load) == (contender, load) and FIGURES[e.figure].unit is Unit.PER_SECOND
        for sample in e.samples
    }
    found = (
        LEAST[f.code]
        for f in view.judgement.findings
        if f.code in LEAST and (f.contender, f.load) == (contender, load) and (f.sample is None or f.sample in counted)
    )
    return next(found, None)


def growing(view: View, contender: str, load: str | None) -> bool:
    """Whether the contender's memory still grew whenever this load ended."""
    return any(f.code == GROWING and (f.contender, f.load) == (contender, load) for f in view.judgement.findings)


def _columns(view: View) -> Iterator[TableColumn]:
    """Scored figures: all of the main load, then the first of each other load and phase, starts last."""
    loads = [place for place in view.loads() if _scored_at(view, place)]
    main = next((place for place in loads if not _open(view, place)), loads[0] if loads else None)
    if main is not None:
        yield from _scored_at(view, main)
    for place in view.places:  # Starts come last there.
        if place != main:
            yield from _scored_at(view, place) if place.opens else _scored_at(view, place)[:1]


def _scored_at(view: View, place: PhaseAndLoad) -> list[TableColumn]:
    scored = [figure for figure in view.figures(place, headline=False) if figure.scored]
    if _open(view, place):
        # An open loop fixes the rate: that it was kept tells contenders apart no more than a ruler does.
        scored = [figure for figure in scored if figure.unit is not Unit.PER_SECOND] or scored
    return [column_of(view, place, figure) for figure in scored]


def _open(view: View, place: PhaseAndLoad) -> bool:
    return view.plan.load_specs.get(place.load or "", LoadSpec()).loop == "open"


def _head(view: View, column: TableColumn, columns: list[TableColumn]) -> str:
    """A column head. It names the load if the figure appears twice or is another load's."""
    twice = sum(other.figure == column.figure for other in columns) > 1
    other_load = column.place.load is not None and column.place != columns[0].place
    return view.title(column.place) if twice or other_load else ""


def _scored(view: View, row: TableRow, columns: list[TableColumn]) -> ScoreRow:
    cells = [
        _at_least(cell) if _is_bound(view, row.name, column, lead=number == 0) else cell
        for number, (cell, column) in enumerate(zip(row.cells, columns, strict=True))
    ]
    row = replace(row, cells=cells)
    return ScoreRow(row, _group(row))


def _is_bound(view: View, contender: str, column: TableColumn, *, lead: bool) -> bool:
    """Whether a figure is the least that it can be: the rate that leads, and memory under load."""
    place, figure = column.place, column.figure
    if figure.unit is Unit.PER_SECOND:
        return lead and why_at_least(view, contender, place.load) is not None
    return FigureGroup.MEMORY in figure.groups and place.phase == "load" and growing(view, contender, place.load)


def _at_least(cell: TableCell) -> TableCell:
    if cell.estimate is None or cell.estimate.median is None:
        return cell
    return replace(cell, text=f"{AT_LEAST} {cell.text}")


def _group(row: TableRow) -> str:
    first = row.cells[0]
    if row.kind in ("exhibit", "invalid"):
        return row.kind
    if row.kind == "absent" or first.estimate is None:
        return "not measured"
    if first.verdict is Verdict.INVALID or first.estimate.median is None:
        return "invalid"
    if row.kind == "baseline":
        return "level"
    return _GROUPS.get(first.sign.kind, "undecided") if first.sign else ""


def _order(scored: ScoreRow) -> tuple[int, bool, float]:
    """By group; within it the baseline first, then the better median."""
    first = scored.row.cells[0]
    median = first.estimate.median if first.estimate else None
    sign = -1.0 if first.better is Better.HIGHER else 1.0
    return _ORDER.index(scored.group), scored.row.kind != "baseline", sign * (median or 0.0)


def group_note(scored: ScoreRow) -> str:
    """The group in the words of a table: the baseline is called so; empty if there is none."""
    if scored.row.kind == "baseline":
        return "baseline"
    return scored.group


def about_groups(view: View, board: Scoreboard) -> str:
    """What makes the groups, and the ceiling that the null server reached on it."""
    lead = board.columns[0]
    groups = f"The groups are those of {lead.figure.in_sentence} ({view.title(lead.place)})."
    return " ".join(filter(None, [groups if view.baseline is not None else "", ceiling(view)]))


def ceiling(view: View) -> str:
    """What the null server reached under the main load; empty if it was not loaded."""
    lead = next(_columns(view), None)
    tare = lead and view.estimate(lead.place, TARE, lead.figure.name)
    if lead is None or not tare or tare.median is None:
        return ""
    reached = lead.scale.text(tare.median, decimals_for(tare.median, lead.scale))
    return f"The null server reached {reached} ({view.title(lead.place)}): the ceiling of generator and machine here."
