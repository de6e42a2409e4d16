"""Markdown for pasting into an issue, a pull request or a post."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from touchstone.judge.judgement import Severity, Verdict
from touchstone.report.answer import answer
from touchstone.report.conformance import conformance
from touchstone.report.format import NOTHING, TIMES
from touchstone.report.headroom import headroom_lines
from touchstone.report.place_lines import place_lines
from touchstone.report.scoreboard import about_groups, group_note, scoreboard
from touchstone.report.sentence import machine, method, notes, trace, what_ran
from touchstone.report.summary import marked, struck_sentence, summary
from touchstone.report.table import (
    FigureTable,
    TableCell,
    TableColumn,
    TableRow,
    absences,
    full_tables,
    headline_tables,
)
from touchstone.report.view import View
from touchstone.report.why.markdown import why_lines
from touchstone.report.words import INVALID, VERDICT_MARKS


def document(view: View) -> str:
    """report.md."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: View) -> Iterator[str]:
    plan = view.plan
    yield f"# {escaped(plan.scenario_title)}"
    yield ""
    yield f"{escaped(what_ran(view))}  "
    yield escaped(machine(view))
    yield ""
    for note in notes(view):
        yield from [escaped(note), ""]
    if view.run.interrupted:
        yield "**Interrupted:** what was measured until then is below."
        yield ""
    if view.judgement.verdict is not Verdict.VALID:
        yield f"**This run is {view.judgement.verdict}**; see [Findings](#findings)."
        yield ""
    for failed in view.judgement.failed:
        yield f"**{escaped(failed.contender)} failed:** {escaped(failed.reason)}"
        yield ""
    yield from scoreboard_lines(view)
    yield from finding_lines(view)
    for table in headline_tables(view):
        yield from table_lines(table, "##")
        for place in dict.fromkeys(column.place for column in table.columns):
            lines = (*place_lines(view, place), *headroom_lines(view, place))
            yield from (f"{escaped(line)}\n" for line in lines)
    yield from crossing_lines(view)
    yield from conformance_lines(view)
    yield from absent_lines(view)
    yield from summary_lines(view)
    yield from why_lines(view.explanations)
    yield from ["## All figures", ""]
    for table in full_tables(view):
        yield from table_lines(table, "###")
    yield from ["## Method", "", escaped(method(view)), "", f"Run `{plan.run_id}`; trace a number: `{trace(view)}`."]


def summary_lines(view: View) -> Iterator[str]:
    """The comparisons in sentences, place by place."""
    groups = summary(view)
    if groups:
        yield from ["## Comparisons", ""]
    for group in groups:
        yield from [f"**{escaped(group.title)}**", ""]
        for line in group.lines:
            yield f"- {line.sign.mark} {escaped(marked(line))}"
        for struck in group.struck:
            yield f"- {INVALID.mark} {_struck(escaped(struck_sentence(struck)), Verdict.INVALID)}"
        yield ""


def scoreboard_lines(view: View) -> Iterator[str]:
    """The answer, and below it the scoreboard: value, ratio and sign in each cell."""
    for sentence in answer(view):
        yield from [f"**{escaped(sentence)}**", ""]
    board = scoreboard(view)
    if board is None:
        return
    heads = [
        _head(column) + (f" ({escaped(place)})" if place else "")
        for column, place in zip(board.columns, board.heads, strict=True)
    ]
    yield "| contender | " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * len(heads)
    for scored in board.rows:
        cells = " | ".join(_score(cell, scored.row) for cell in scored.row.cells)
        note = f" ({group_note(scored)})" if group_note(scored) else ""
        yield f"| `{scored.row.name}`{note} | {cells} |"
    key = f"▲ better, ▼ worse, = level, ~ undecided, ? doubtful, ✗ invalid; {TIMES} is the ratio to the baseline."
    yield from ["", f"{escaped(about_groups(view, board))} {key}".strip(), ""]


def _score(cell: TableCell, row: TableRow) -> str:
    shown = _cell(replace(cell, interval=""))
    if cell.text == NOTHING or cell.sign is None or not cell.ratio or row.kind == "baseline":
        return shown
    return f"{shown} · {cell.ratio} {cell.sign.mark}"


def table_lines(table: FigureTable, level: str) -> Iterator[str]:
    """A table under a heading of this level."""
    yield from [f"{level} {escaped(table.title)}", ""]
    yield "| contender | " + " | ".join(_head(column) for column in table.columns) + " |"
    yield "|---|" + "---:|" * len(table.columns)
    for row in table.rows:
        yield f"| {_name(row)} | " + " | ".join(_cell(cell) for cell in row.cells) + " |"
    yield ""


def _head(column: TableColumn) -> str:
    return escaped(f"{column.figure.title}, {column.scale.suffix}".rstrip(", "))


def _name(row: TableRow) -> str:
    extra = {"exhibit": " (exhibit)", "baseline": " (baseline)", "invalid": " (invalid)"}.get(row.kind, "")
    return f"`{row.name}`{extra}"


def _cell(cell: TableCell) -> str:
    if cell.text == NOTHING:
        if cell.verdict is Verdict.INVALID:
            return "invalid"
        return "not measured" if cell.reason else NOTHING
    mark = VERDICT_MARKS[cell.verdict]
    bounds = f" ({cell.interval})" if cell.interval else ""
    return _struck(f"{cell.text}{bounds}", cell.verdict) + (f" {mark}" if mark else "")


def conformance_lines(view: View) -> Iterator[str]:
    """What is broken of HTTP/1.1, in numbers, and which MUST requirements by name."""
    found = conformance(view)
    if found is None:
        return
    yield from [f"## Conformance to {found.protocol}", ""]
    yield from (f"**{escaped(note)}**\n" for note in found.notes)
    yield "| requirements | " + " | ".join(f"`{name}`" for name in found.names) + " |"
    yield "|---|" + "---:|" * len(found.names)
    for count in found.counts:
        broken = "broken, " if count.means else ""
        numbers = ["not measured" if number is None else str(number) for number in count.numbers]
        yield f"| {count.level} {broken}{count.word} | " + " | ".join(numbers) + " |"
    yield ""
    for line in found.broken.get("MUST", []):
        who = [
            f"`{name}` ({mark.text})"
            for name, mark in zip(found.names, line.marks, strict=True)
            if mark.standing not in ("kept", "not_applicable")
        ]
        yield f"- {escaped(line.requirement.says)} {line.requirement.section}: broken by {', '.join(who)}"
    yield ""


def absent_lines(view: View) -> Iterator[str]:
    """What could not be measured, with the reasons."""
    absent = absences(view)
    if not absent:
        return
    yield from ["## Not measured", ""]
    yield from (f"- `{name}`{escaped(figures)}: {escaped(why)}" for name, figures, why in absent)
    yield ""


def crossing_lines(view: View) -> Iterator[str]:
    """From when on one contender has served more in total than another."""
    if not view.crossings:
        return
    yield from ["## Served in total since exec", ""]
    for crossing in view.crossings:
        mark = VERDICT_MARKS[crossing.verdict]
        yield f"- {_struck(escaped(crossing.sentence), crossing.verdict)}" + (f" {mark}" if mark else "")
    yield ""


def finding_lines(view: View) -> Iterator[str]:
    """The causes of doubt, the one that costs most first, a line each. The samples are in the JSON."""
    yield from ["## Findings", ""]
    found = view.causes
    if not found:
        yield from ["None.", ""]
        return
    for cause in found:
        weight = f"**{cause.severity}**" if cause.severity is not Severity.NOTE else cause.severity
        next_steps = " ".join(cause.next_steps)
        statement = escaped(cause.statement.rstrip("."))
        yield f"- {weight} `{cause.code}` ({escaped(cause.place)}): {statement}. Next: {escaped(next_steps)}"
    yield ""


def _struck(text: str, verdict: Verdict) -> str:
    return f"~~{text}~~" if verdict is Verdict.INVALID else text


def escaped(text: str) -> str:
    """The text as Markdown shows it unchanged."""
    for character in "\\`*_|<>[]#":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
