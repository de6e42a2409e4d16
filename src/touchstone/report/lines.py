"""The report as lines, one a figure, for those who search or cut a log: `--lines`."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Verdict
from touchstone.report.answer import answer
from touchstone.report.format import NOTHING
from touchstone.report.sentence import machine, trace, what_ran
from touchstone.report.summary import sentences
from touchstone.report.table import FigureTable, TableCell, TableColumn, TableRow, headline_tables
from touchstone.report.view import View


def banners(view: View) -> Iterator[str]:
    """What must be known before any figure is read."""
    if view.run.interrupted:
        yield "Interrupted: what was measured until then is shown."
    if view.why_invalid:
        yield f"This run is invalid: {view.why_invalid}."
    for failed in view.judgement.failed:
        yield f"{failed.contender} failed: {failed.reason}"


def plain_lines(view: View) -> Iterator[str]:
    """The whole report, a line for each figure, comparison and cause."""
    yield f"{view.plan.scenario_title} ({view.plan.run_id})"
    yield what_ran(view)
    yield machine(view)
    yield from banners(view)
    yield from answer(view)
    for table in headline_tables(view):
        for row in table.rows:
            if row.kind != "absent":
                for column, cell in zip(table.columns, row.cells, strict=True):
                    yield _plain_cell(table, row, column, cell)
    for title, how, sentence in sentences(view, leading=False):
        if title:
            yield f"comparison: {title}"
        yield f"  {how.mark} {sentence}"
    for crossing in view.crossings:
        yield f"served in total: {crossing.sentence}"
    for contender in view.not_measured:
        yield f"not measured: {contender.name}: {contender.not_measured}"
    for cause in view.causes:
        yield f"finding: {cause.severity} {cause.code}: {cause.place}: {cause.statement}"
        yield from (f"  next: {step}" for step in cause.next_steps)
    if not view.finding_groups:
        yield "findings: none"
    yield f"trace a number: {trace(view)}"


def _plain_cell(table: FigureTable, row: TableRow, column: TableColumn, cell: TableCell) -> str:
    label = f"{table.title}: {row.name}: {column.figure.title}:"
    if cell.text == NOTHING:
        state = "invalid" if cell.verdict is Verdict.INVALID else "not measured" if cell.reason else NOTHING
        return f"{label} {state}" + (f" ({cell.reason})" if cell.reason else "")
    bounds = f" [{cell.interval}]" if cell.interval else ""
    against = f", {cell.ratio} {cell.sign.word}" if cell.sign and cell.ratio else ""
    verdict = "" if cell.verdict is Verdict.VALID else f", {cell.verdict}" + (f": {cell.reason}" if cell.reason else "")
    return f"{label} {cell.text} {column.scale.suffix}".rstrip() + f"{bounds}{against}{verdict}"
