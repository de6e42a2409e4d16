"""The report in a terminal or in a log: the answer, the leading figures, the findings that matter; then the details.

A log gets the same tables as a terminal, without colour: people read both.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict
from touchstone.record.run import Run
from touchstone.report.answer import answer
from touchstone.report.format import NOTHING, TIMES, plural
from touchstone.report.lines import banners, plain_lines
from touchstone.report.place_lines import place_lines
from touchstone.report.scoreboard import ScoreRow, ceiling, sections
from touchstone.report.sentence import machine, notes, trace, what_ran
from touchstone.report.summary import sentences, summary
from touchstone.report.table import FigureTable, TableCell, TableColumn, TableRow, absences, headline_tables
from touchstone.report.view import View
from touchstone.report.words import VERDICT_MARKS

_SIGN_STYLES = {"better": "green", "worse": "yellow", "equivalent": "cyan", "undecided": "dim", "invalid": "red"}
_DECIDED = ("better", "worse", "equivalent")
_VERDICT_STYLES = {Verdict.VALID: "", Verdict.SUSPECT: "yellow", Verdict.INVALID: "red strike"}
_SEVERITY_STYLES = {Severity.INVALID: "bold red", Severity.SUSPECT: "bold yellow", Severity.NOTE: "bold cyan"}
_ROW_NOTES = {"baseline": "baseline", "exhibit": "exhibit", "invalid": "invalid", "absent": "not measured"}
_HEAD_WIDTH = 18
_LEADING_WIDTH = 17
"""Four figures and a name fit 100 columns."""
_LOG_WIDTH = 140
"""Columns of a table in a log, where nothing says how wide it is shown."""
_RATIO_WIDTH = 9
_TITLE_WIDTH = 30
"""Characters of a section's title that fit next to its figures; a longer one has a line of its own."""
_FIRST_FINDINGS = 3
_KEY = "▲ better  ▼ worse  = level  ~ undecided  ? doubtful  ✗ invalid"


def print_report(console: Console, view: View, *, lines: bool = False, details: bool = False) -> None:
    """Print the run, in colour on a terminal: what fits a screen, with `details` everything that was found as well.

    With `lines` it is one line a figure. Rich obeys NO_COLOR by itself.
    """
    if lines:
        for line in plain_lines(view):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return
    _widen(console)
    _print_head(console, view)
    _print_sections(console, view)
    if details:
        print_findings(console, view)
        _print_tables(console, view)
        _print_comparisons(console, view)
        _print_crossings(console, view)
    else:
        print_findings(console, view, most=_FIRST_FINDINGS)
    _print_not_measured(console, view)
    console.print()
    _say(console, Text.assemble(("Trace a number: ", "dim"), trace(view)), 0)
    if not details:
        _say(console, Text.assemble(("All details:    ", "dim"), f"touchstone show {view.plan.run_id} --details"), 0)


class FirstTable:
    """Prints the leading figures once, as soon as one of their differences is decided."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._printed = False

    def __call__(self, run: Run) -> None:
        """Judge the run so far, and print its figures if one decides something."""
        if self._printed:
            return
        view = View(run, judge(run))
        # Sizes and builds are decided before anything is loaded.
        rows = [s.row for section in sections(view) if not section.columns[0].place.opens for s in section.rows]
        if not any(cell.sign is not None and cell.sign.kind in _DECIDED for row in rows for cell in row.cells):
            return
        self._printed = True
        _widen(self._console)
        rounds = max(sample.round or 0 for sample in run.samples)
        self._console.print()
        so_far = f"So far, after {rounds} of {view.plan.rounds} rounds:"
        _say(self._console, Text(so_far, style="bold"), 0)
        _print_sections(self._console, view)
        self._console.print()


def _widen(console: Console) -> None:
    """Give a log the width of its tables."""
    if not console.is_terminal and console.width == 80 and "COLUMNS" not in os.environ:
        console.width = _LOG_WIDTH


def _say(console: Console, text: Text, indent: int) -> None:
    """A sentence: wrapped and indented on a terminal, a line of its own in a log, so that it can be searched for."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent)))
    else:
        console.print(Text(" " * indent) + text, soft_wrap=True)


def _print_head(console: Console, view: View) -> None:
    console.print()
    title = Text.assemble((view.plan.scenario_title, "bold"), (f"  {view.plan.run_id}", "dim"))
    for line in (title, Text(what_ran(view), style="dim"), Text(machine(view), style="dim")):
        _say(console, line, 0)
    for note in notes(view):
        _say(console, Text(note), 0)
    for banner in banners(view):
        _say(console, Text(banner, style="bold red"), 0)
    if lead := answer(view):
        console.print()
        for sentence in lead:
            _say(console, Text(sentence, style="bold"), 0)


def _print_sections(console: Console, view: View) -> None:
    """The leading figures, load by load: a contender's line has each figure with its ratio to the baseline."""
    shown = sections(view)
    if not shown:
        return
    compared = any(cell.sign for section in shown for scored in section.rows for cell in scored.row.cells)
    names = [[_named(scored, compared=compared) for scored in section.rows] for section in shown]
    cells = [[[_score(*of, scored.row) for of in zip(section.columns, scored.row.cells, strict=True)]
              for scored in section.rows] for section in shown]  # fmt: skip
    titles = [section.title if len(section.title) <= _TITLE_WIDTH else "" for section in shown]
    first = max(len(text) for text in (*titles, *(name.plain for row in names for name in row)))
    for section, title, rows, lines in zip(shown, titles, names, cells, strict=True):
        heads = [_folded(column.figure.title, _LEADING_WIDTH) for column in section.columns]
        console.print()
        if not title:
            console.print(Text(section.title, style="bold"))
        for part in _fitted(first, heads, lines, console.width):
            rich = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
            rich.add_column(escape(title), no_wrap=True, min_width=first)
            for index in part:
                rich.add_column(escape(heads[index]), justify="right", no_wrap=True, min_width=_LEADING_WIDTH)
            for named, line in zip(rows, lines, strict=True):
                rich.add_row(named, *(line[index] for index in part))
            console.print(rich)
        for place in dict.fromkeys(column.place for column in section.columns):
            for sentence in place_lines(view, place):
                _say(console, Text(sentence, style="dim"), 0)
    console.print()
    marks = f"{TIMES} is the ratio to {view.baseline}: {_KEY}" if compared else ""
    for remark in filter(None, (marks, ceiling(view))):
        _say(console, Text(remark, style="dim"), 0)


def _named(scored: ScoreRow, *, compared: bool) -> Text:
    """A contender's name, with the note that its figures need."""
    kind = scored.row.kind
    note = kind if kind in ("exhibit", "invalid") or (kind == "baseline" and compared) else None
    style = {"baseline": "bold", "invalid": "red", "absent": "dim"}.get(kind, "")
    return Text.assemble("  ", (scored.row.name, style), (f"  {note}", "dim") if note else "")


def _score(column: TableColumn, cell: TableCell, row: TableRow) -> Text:
    if cell.text == NOTHING:
        state = "invalid" if cell.verdict is Verdict.INVALID else "not measured"
        return Text(state, style="red" if state == "invalid" else "dim")
    value = f"{_short(cell.text)} {column.scale.suffix}".rstrip()
    text = Text(value, style=_VERDICT_STYLES[cell.verdict], no_wrap=True)
    if mark := VERDICT_MARKS[cell.verdict]:
        text.append(f" {mark}")
    if row.kind == "baseline":
        text.append(" " * _RATIO_WIDTH)
    elif cell.sign is not None and cell.ratio:
        ratio = f"{cell.ratio} {cell.sign.mark}".rjust(_RATIO_WIDTH)
        text.append(ratio, style=_SIGN_STYLES.get(cell.sign.kind, ""))
    return text


def _print_tables(console: Console, view: View) -> None:
    for table in headline_tables(view):
        heads = [_head(column) for column in table.columns]
        cells = [[_rich_cell(cell) for cell in row.cells] for row in table.rows]
        for part in _fitted(max(len(row.name) for row in table.rows), heads, cells, console.width):
            console.print()
            console.print(_rich_table(table, cells, part))
        for place in dict.fromkeys(column.place for column in table.columns):
            for line in place_lines(view, place):
                _say(console, Text(line, style="dim"), 0)


def _print_comparisons(console: Console, view: View) -> None:
    summarised = list(sentences(view, leading=True))
    if summarised:
        console.print()
        console.print(Text("Comparisons", style="bold"))
    for title, how, sentence in summarised:
        if title:
            console.print(Text(f"  {title}", style="dim"))
        style = _SIGN_STYLES.get(how.kind, "")
        words = (sentence, "red" if how.kind == "invalid" else "")
        _say(console, Text.assemble((f"{how.mark} ", style), words), 2)
    further = sum(len(group.further) for group in summary(view))
    if further:
        console.print(Text(f"  {plural(further, 'more comparison')} in the report", style="dim"))


def _print_crossings(console: Console, view: View) -> None:
    if view.crossings:
        console.print()
        console.print(Text("Served in total since exec", style="bold"))
        for crossing in view.crossings:
            _say(console, Text(crossing.sentence, style=_VERDICT_STYLES[crossing.verdict]), 2)


def _print_not_measured(console: Console, view: View) -> None:
    if absent := absences(view):
        console.print()
        console.print(Text("Not measured", style="bold"))
        for name, figures, why in absent:
            _say(console, Text.assemble((name, "bold"), f"{figures}: {why}"), 2)


def _fitted(first: int, heads: list[str], cells: list[list[Text]], width: int) -> Iterator[list[int]]:
    """The columns in parts that fit next to a first column of this width."""
    first += 2
    part: list[int] = []
    used = first
    for index, head in enumerate(heads):
        lines = [line for row in cells for line in row[index].plain.splitlines()]
        needed = 2 + max((len(line) for line in [*head.splitlines(), *lines]), default=0)
        if part and used + needed > width:
            yield part
            part, used = [], first
        part.append(index)
        used += needed
    yield part


def _folded(words: str, width: int = _HEAD_WIDTH) -> str:
    """A heading in narrow lines, so that the figures decide how wide a column is."""
    return "\n".join(textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False))


def _rich_table(table: FigureTable, cells: list[list[Text]], part: list[int]) -> RichTable:
    rich = RichTable(
        box=box.SIMPLE_HEAD, title=escape(table.title), title_justify="left", title_style="bold", pad_edge=False
    )
    rich.add_column("contender", no_wrap=True)
    for column in (table.columns[index] for index in part):
        rich.add_column(escape(_head(column)), justify="right", no_wrap=True)
    for row, line in zip(table.rows, cells, strict=True):
        rich.add_row(_rich_name(row, _ROW_NOTES.get(row.kind)), *(line[index] for index in part))
    return rich


def _head(column: TableColumn) -> str:
    return f"{_folded(column.figure.title)}\n{column.scale.suffix}".rstrip()


def _rich_name(row: TableRow, note: str | None) -> Text:
    style = {"baseline": "bold", "invalid": "red", "absent": "dim", "tare": "dim"}.get(row.kind, "")
    return Text.assemble((row.name, style), (f"\n{note}", "dim") if note else "")


def _rich_cell(cell: TableCell) -> Text:
    if cell.text == NOTHING:
        return Text("invalid", style="red") if cell.verdict is Verdict.INVALID else Text(NOTHING, style="dim")
    mark = VERDICT_MARKS[cell.verdict]
    text = Text(_short(cell.text), style=_VERDICT_STYLES[cell.verdict], no_wrap=True)
    if mark:
        text.append(f" {mark}", style="red" if cell.verdict is Verdict.INVALID else "yellow")
    if cell.sign is not None and cell.ratio:
        text.append(f"\n{cell.ratio} {cell.sign.mark}", style=_SIGN_STYLES.get(cell.sign.kind, ""))
    if cell.interval:
        text.append(f"\n{_short(cell.interval)}", style="dim")
    return text


def _short(bounds: str) -> str:
    """Two bounds in as little room as a table's column has."""
    return bounds.replace(" to ", "\N{EN DASH}")


def print_findings(console: Console, view: View, *, most: int | None = None) -> None:
    """Print the findings by weight, with next steps; or that there are none.

    With `most`: at most that number of findings that make a figure of a sound contender doubtful, and the
    number of the others.
    """
    console.print()
    found = view.causes
    if not found:
        if not view.why_invalid:
            console.print(Text("No findings.", style="bold"))
        return
    grave = [cause for cause in found if cause.severity is not Severity.NOTE and not cause.exhibits]
    shown = found if most is None else grave[:most]
    if shown:
        console.print(Text("Findings, by what they cost", style="bold"))
    for cause in shown:
        head = ((f"{cause.severity} ", _SEVERITY_STYLES[cause.severity]), (cause.code, "bold"))
        _say(console, Text.assemble(*head, (f"  {cause.place}: ", "dim"), cause.statement), 2)
        for step in cause.next_steps:
            _say(console, Text.assemble(("next: ", "dim"), step), 6)
    if left := len(found) - len(shown):
        which = plural(left, "more finding" if shown else "finding")
        notes = "" if len(grave) > len(shown) else ", a note" if left == 1 else ", all notes"
        console.print(Text(f"{'  ' if shown else ''}{which}{notes}: see the details", style="dim"))
