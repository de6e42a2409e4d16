"""The tables of a report as data: every exporter lays out the same rows, columns, units and marks."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.judge.judgement import Comparison, Estimate, Verdict
from touchstone.record.run import ContenderPlan
from touchstone.record.sample import TARE
from touchstone.report.causes import FindingGroup
from touchstone.report.format import NOTHING, Scale, decimals_for, interval, ratio, scale_for
from touchstone.report.sentence import against
from touchstone.report.view import PhaseAndLoad, View
from touchstone.report.words import Sign, sign
from touchstone.vocabulary.figure import Better, Figure


@dataclass(frozen=True)
class TableColumn:
    """A figure of a place, in one unit for all rows."""

    place: PhaseAndLoad
    figure: Figure
    scale: Scale


@dataclass(frozen=True)
class TableCell:
    """A figure of a contender, ready to be shown."""

    text: str
    """The median without its unit."""
    interval: str = ""
    verdict: Verdict = Verdict.VALID
    reason: str | None = None
    sign: Sign | None = None
    ratio: str = ""
    share: float | None = None
    """The median as a share of the column's greatest valid median, for a bar."""
    estimate: Estimate | None = None
    against: str = ""
    """The interval of the ratio, with and without the doubts that widen it."""
    better: Better = Better.NEITHER


@dataclass(frozen=True)
class TableRow:
    """A contender, or the tare."""

    name: str
    title: str
    cells: list[TableCell]
    kind: str
    """`baseline`, `contender`, `exhibit`, `tare`, `invalid` or `absent`."""
    contender: ContenderPlan | None = None
    note: str | None = None


@dataclass(frozen=True)
class FigureTable:
    """A table of headline figures."""

    anchor: str
    title: str
    columns: list[TableColumn]
    rows: list[TableRow]
    ordered_by: Figure | None
    findings: list[FindingGroup]


def headline_tables(view: View) -> list[FigureTable]:
    """The summary: one table for each load and each other phase, one for building and starting."""
    tables = (_table(view, anchor, title, places, headline=True) for anchor, title, places in grouped(view))
    return [table for table in tables if table is not None]


def grouped(view: View) -> list[tuple[str, str, list[PhaseAndLoad]]]:
    """The places that share a table, with its anchor and its title. Building and starting come last, together."""
    groups = [(f"{p.phase}-{p.load or 'all'}", view.title(p), [p]) for p in view.places if not p.opens]
    together = [place for place in view.places if place.opens]
    return [*groups, ("start", "Build and start", together)] if together else groups


def full_tables(view: View) -> list[FigureTable]:
    """All figures of every place."""
    tables = (_table(view, f"all-{p.phase}-{p.load or 'all'}", view.title(p), [p], headline=False) for p in view.places)
    return [table for table in tables if table is not None]


def _table(view: View, anchor: str, title: str, places: list[PhaseAndLoad], *, headline: bool) -> FigureTable | None:
    columns = [column_of(view, place, figure) for place in places for figure in view.figures(place, headline=headline)]
    if not columns:
        return None
    rows = [row_of(view, contender, columns) for contender in view.contenders]
    findings = [group for place in places for group in view.findings_at(place)]
    ordered = _ordered(rows, columns)
    tare = [_cell(view, TARE, column, None) for column in columns]
    if any(cell.estimate for cell in tare):
        ordered.append(TableRow("tare", "the null server: the ceiling here", tare, "tare"))
    lead = columns[0].figure if len(places) == 1 else None
    return FigureTable(anchor, title, columns, ordered if lead else rows, lead, findings)


def absences(view: View) -> list[tuple[str, str, str]]:
    """What was not measured of what the summary shows: contender, figures (empty for all of them), reason."""
    whole = [(contender.name, "", contender.not_measured or "") for contender in view.not_measured]
    figures: dict[tuple[str, str], list[str]] = {}
    for table in headline_tables(view):
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                if row.kind != "absent" and cell.text == NOTHING and cell.verdict is Verdict.VALID and cell.reason:
                    figures.setdefault((row.name, cell.reason), []).append(column.figure.title)
    parts = [(name, f", {', '.join(dict.fromkeys(titles))}", why) for (name, why), titles in figures.items()]
    return [*whole, *parts]


def column_of(view: View, place: PhaseAndLoad, figure: Figure) -> TableColumn:
    """A figure of a place as a column."""
    return TableColumn(place, figure, _scale(view, place, figure))


def _scale(view: View, place: PhaseAndLoad, figure: Figure) -> Scale:
    """One unit for the column, from the valid medians, else from invalid values."""
    found = [e for c in view.contenders if (e := view.estimate(place, c.name, figure.name)) is not None]
    medians = [e.median for e in found if e.median is not None]
    struck = [s.figures.get(figure.name) for e in found for i in e.left_out if (s := view.sample(i)) is not None]
    return scale_for(medians or struck, figure.unit)


def row_of(view: View, contender: ContenderPlan, columns: list[TableColumn]) -> TableRow:
    """A contender as a row of these columns."""
    if contender.not_measured is not None:
        blank = [TableCell(NOTHING, reason=contender.not_measured) for _ in columns]
        return TableRow(contender.name, contender.title, blank, "absent", contender, contender.not_measured)
    tops = [_top(view, column) for column in columns]
    cells = [_cell(view, contender.name, column, top) for column, top in zip(columns, tops, strict=True)]
    kind = "exhibit" if contender.exhibit else "baseline" if view.is_baseline(contender) else "contender"
    known = [cell for cell in cells if cell.estimate is not None]
    if known and all(cell.verdict is Verdict.INVALID for cell in known):
        kind = "invalid"
    note = contender.exhibit
    return TableRow(contender.name, contender.title, cells, kind, contender, note)


def _cell(view: View, contender: str, column: TableColumn, top: float | None) -> TableCell:
    estimate = view.estimate(column.place, contender, column.figure.name)
    if estimate is None or estimate.median is None:
        struck = _struck(view, column, estimate)
        reason = estimate.reason if estimate else _why_absent(view, contender, column)
        verdict = estimate.verdict if estimate else Verdict.VALID
        return TableCell(struck or NOTHING, verdict=verdict, reason=reason, estimate=estimate)
    decimals = decimals_for(estimate.median, column.scale, estimate.low, estimate.high)
    comparison = view.comparison(column.place, contender, column.figure.name)
    return TableCell(
        text=column.scale.number(estimate.median, decimals),
        interval=interval(estimate.low, estimate.high, column.scale, decimals),
        verdict=Verdict.SUSPECT if estimate.is_bound and estimate.verdict is Verdict.VALID else estimate.verdict,
        reason=estimate.reason,
        sign=sign(comparison) if comparison else None,
        ratio=_ratio(comparison),
        share=min(1.0, estimate.median / top) if top else None,
        estimate=estimate,
        against=against(comparison) if comparison else "",
        better=column.figure.better,
    )


def _struck(view: View, column: TableColumn, estimate: Estimate | None) -> str:
    """The values that the judge left out, as a range: an invalid number is shown as such and not hidden."""
    samples = [view.sample(i) for i in estimate.left_out] if estimate else []
    values = [s.figures[column.figure.name] for s in samples if s and column.figure.name in s.figures]
    if not values:
        return ""
    ends = [column.scale.number(v, decimals_for(v, column.scale)) for v in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _ratio(comparison: Comparison | None) -> str:
    return ratio(comparison.ratio) if comparison is not None and comparison.ratio is not None else ""


def _why_absent(view: View, contender: str, column: TableColumn) -> str | None:
    """The reason that a sample gives for a figure that it lacks. None for the null server, of which none is due."""
    for sample in view.samples(column.place, contender):
        if column.figure.name in sample.not_measured:
            return sample.not_measured[column.figure.name]
        if sample.failure is not None:
            return sample.failure.what
    return None if contender == TARE else "no measurement of this run gives it"


def _top(view: View, column: TableColumn) -> float | None:
    estimates = (view.estimate(column.place, c.name, column.figure.name) for c in view.contenders)
    medians = [e.median for e in estimates if e and e.median is not None and e.verdict is not Verdict.INVALID]
    return max(medians, default=None)


def _ordered(rows: list[TableRow], columns: list[TableColumn]) -> list[TableRow]:
    """Best first by the leading figure. Exhibits stay with their twins; invalid and absent rows are not ranked."""
    lead = columns[0].figure
    sign = -1.0 if lead.better is Better.HIGHER else 1.0
    blocks: list[list[TableRow]] = []
    for row in rows:
        if row.kind == "exhibit" and blocks and _same_stack(blocks[-1][0], row):
            blocks[-1].append(row)
        else:
            blocks.append([row])

    def order(block: list[TableRow]) -> tuple[int, float]:
        head, cell = block[0], block[0].cells[0]
        if head.kind == "absent":
            return 3, 0.0
        if head.kind == "exhibit":
            return 1, 0.0
        if cell.verdict is Verdict.INVALID or cell.estimate is None or cell.estimate.median is None:
            return 2, 0.0
        return 0, sign * cell.estimate.median

    return [row for block in sorted(blocks, key=order) for row in block]


def _same_stack(one: TableRow, other: TableRow) -> bool:
    return one.contender is not None and other.contender is not None and one.contender.stack == other.contender.stack
