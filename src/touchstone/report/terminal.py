"""The report on a terminal: Rich tables there, plain lines where the output is not a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from touchstone.judge.judgement import Judgement, Severity, Verdict
from touchstone.record.run import Run
from touchstone.report.format import NOTHING, plural
from touchstone.report.sentence import machine, trace, what_ran
from touchstone.report.summary import struck_sentence, summary
from touchstone.report.table import Cell, Column, Row, Table, headline_tables
from touchstone.report.view import FindingGroup, View
from touchstone.report.words import INVALID, VERDICT_MARKS, Standing

_STANDING_STYLES = {"better": "green", "worse": "yellow", "equivalent": "cyan", "undecided": "dim", "invalid": "red"}
_VERDICT_STYLES = {Verdict.VALID: "", Verdict.SUSPECT: "yellow", Verdict.INVALID: "red strike"}
_SEVERITY_STYLES = {Severity.INVALID: "bold red", Severity.SUSPECT: "bold yellow", Severity.NOTE: "bold cyan"}
_ROW_NOTES = {"baseline": "baseline", "exhibit": "exhibit", "invalid": "invalid", "absent": "not measured"}


def print_report(console: Console, run: Run, judgement: Judgement) -> None:
    """Print the run: tables and colours on a terminal, plain lines otherwise. Rich obeys NO_COLOR by itself."""
    view = View(run, judgement)
    if console.is_terminal:
        _print_rich(console, view)
    else:
        for line in _plain_lines(view):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _print_rich(console: Console, view: View) -> None:
    console.print()
    console.print(Text(view.plan.scenario_title, style="bold"), Text(f"  {view.plan.run_id}", style="dim"))
    console.print(Text(what_ran(view), style="dim"))
    console.print(Text(machine(view), style="dim"))
    for banner in _banners(view):
        console.print(Text(banner, style="bold red"))
    for table in headline_tables(view):
        for part in _fitted(table, console.width):
            console.print()
            console.print(_rich_table(table, part))
    sentences = list(_sentences(view, leading=True))
    if sentences:
        console.print()
        console.print(Text("Comparisons", style="bold"))
    for title, how, sentence in sentences:
        if title:
            console.print(Text(f"  {title}", style="dim"))
        style = _STANDING_STYLES.get(how.kind, "")
        words = (sentence, "red" if how.kind == "invalid" else "")
        console.print(Padding(Text.assemble((f"{how.mark} ", style), words), (0, 0, 0, 2)))
    further = sum(len(group.further) for group in summary(view))
    if further:
        console.print(Text(f"  {plural(further, 'more comparison')} in the report", style="dim"))
    if view.crossings:
        console.print()
        console.print(Text("Served in total since exec", style="bold"))
        for crossing in view.crossings:
            style = _VERDICT_STYLES[crossing.verdict]
            console.print(Padding(Text(crossing.sentence, style=style), (0, 0, 0, 2)))
    if view.not_measured:
        console.print()
        console.print(Text("Not measured", style="bold"))
        for contender in view.not_measured:
            line = Text.assemble((contender.name, "bold"), ": ", contender.not_measured or "")
            console.print(Padding(line, (0, 0, 0, 2)))
    _print_findings(console, view)
    console.print()
    console.print(Text.assemble(("Trace a number: ", "dim"), trace(view)))


def _banners(view: View) -> Iterator[str]:
    if view.run.interrupted:
        yield "Interrupted: what was measured until then is shown."
    if view.judgement.verdict is Verdict.INVALID:
        yield "This run is invalid: see the findings."


def _fitted(table: Table, width: int) -> Iterator[list[int]]:
    """The columns, in parts that fit the terminal beside the contenders' names, so that no number is cut."""
    names = max(len(row.name) for row in table.rows) + 3
    part: list[int] = []
    used = names
    for index, column in enumerate(table.columns):
        lines = [line for row in table.rows for line in _rich_cell(row.cells[index]).plain.splitlines()]
        needed = 3 + max(len(text) for text in [*lines, *_head(column, " ").split()])
        if part and used + needed > width:
            yield part
            part, used = [], names
        part.append(index)
        used += needed
    yield part


def _rich_table(table: Table, part: list[int]) -> RichTable:
    rich = RichTable(
        box=box.SIMPLE_HEAD, title=escape(table.title), title_justify="left", title_style="bold", pad_edge=False
    )
    rich.add_column("contender", no_wrap=True)
    for column in (table.columns[index] for index in part):
        words = column.figure.title.split()
        rich.add_column(escape(_head(column, "\n")), justify="right", min_width=max(len(word) for word in words))
    for row in table.rows:
        rich.add_row(_rich_name(row), *(_rich_cell(row.cells[index]) for index in part))
    return rich


def _head(column: Column, between: str) -> str:
    return f"{column.figure.title}{between}{column.scale.suffix}".rstrip()


def _rich_name(row: Row) -> Text:
    style = {"baseline": "bold", "invalid": "red", "absent": "dim", "tare": "dim"}.get(row.kind, "")
    note = _ROW_NOTES.get(row.kind)
    return Text.assemble((row.name, style), (f"\n{note}", "dim") if note else "")


def _rich_cell(cell: Cell) -> Text:
    if cell.text == NOTHING:
        return Text("invalid", style="red") if cell.verdict is Verdict.INVALID else Text(NOTHING, style="dim")
    mark = VERDICT_MARKS[cell.verdict]
    text = Text(_short(cell.text), style=_VERDICT_STYLES[cell.verdict], no_wrap=True)
    if mark:
        text.append(f" {mark}", style="red" if cell.verdict is Verdict.INVALID else "yellow")
    if cell.standing is not None and cell.ratio:
        text.append(f"\n{cell.ratio} {cell.standing.mark}", style=_STANDING_STYLES.get(cell.standing.kind, ""))
    if cell.interval:
        text.append(f"\n{_short(cell.interval)}", style="dim")
    return text


def _short(bounds: str) -> str:
    """Two bounds in as little room as a table's column has."""
    return bounds.replace(" to ", "\N{EN DASH}")


def _sentences(view: View, *, leading: bool) -> Iterator[tuple[str, Standing, str]]:
    """The summary's lines: a place's title with its first, empty with the others."""
    for group in summary(view):
        lines = [(line.standing, line.sentence) for line in (group.leading if leading else group.lines)]
        lines += [(INVALID, struck_sentence(struck)) for struck in group.struck]
        for number, (how, sentence) in enumerate(lines):
            yield group.title if number == 0 else "", how, sentence


def _print_findings(console: Console, view: View) -> None:
    console.print()
    if not view.finding_groups:
        console.print(Text("No findings.", style="bold"))
        return
    console.print(Text("Findings", style="bold"))
    for cluster in view.finding_clusters:
        first = cluster[0].first
        head = Text.assemble((f"{first.severity} ", _SEVERITY_STYLES[first.severity]), (first.code, "bold"))
        console.print(Padding(head, (0, 0, 0, 2)))
        for group in cluster:
            console.print(Padding(Text.assemble((f"{_where(group)}: ", "dim"), group.first.statement), (0, 0, 0, 4)))
        console.print(Padding(Text.assemble(("next: ", "dim"), first.next_step), (0, 0, 0, 4)))


def _where(group: FindingGroup) -> str:
    first = group.first
    place = " ".join(part for part in (first.contender, first.load) if part) or "the run"
    samples = group.samples
    if not samples:
        return place
    return f"{place}, sample {samples[0]}" if len(samples) == 1 else f"{place}, {plural(len(samples), 'sample')}"


def _plain_lines(view: View) -> Iterator[str]:
    yield f"{view.plan.scenario_title} ({view.plan.run_id})"
    yield what_ran(view)
    yield machine(view)
    yield from _banners(view)
    for table in headline_tables(view):
        for row in table.rows:
            if row.kind != "absent":
                for column, cell in zip(table.columns, row.cells, strict=True):
                    yield _plain_cell(table, row, column, cell)
    for title, how, sentence in _sentences(view, leading=False):
        if title:
            yield f"comparison: {title}"
        yield f"  {how.mark} {sentence}"
    for crossing in view.crossings:
        yield f"served in total: {crossing.sentence}"
    for contender in view.not_measured:
        yield f"not measured: {contender.name}: {contender.not_measured}"
    for cluster in view.finding_clusters:
        for group in cluster:
            first = group.first
            yield f"finding: {first.severity} {first.code}: {_where(group)}: {first.statement}"
        yield f"  next: {cluster[0].first.next_step}"
    if not view.finding_groups:
        yield "findings: none"
    yield f"trace a number: {trace(view)}"


def _plain_cell(table: Table, row: Row, column: Column, cell: Cell) -> str:
    label = f"{table.title}: {row.name}: {column.figure.title}:"
    if cell.text == NOTHING:
        state = "invalid" if cell.verdict is Verdict.INVALID else "not measured"
        return f"{label} {state}" + (f" ({cell.reason})" if cell.reason else "")
    bounds = f" [{cell.interval}]" if cell.interval else ""
    against = f", {cell.ratio} {cell.standing.word}" if cell.standing and cell.ratio else ""
    verdict = "" if cell.verdict is Verdict.VALID else f", {cell.verdict}" + (f": {cell.reason}" if cell.reason else "")
    return f"{label} {cell.text} {column.scale.suffix}".rstrip() + f"{bounds}{against}{verdict}"
