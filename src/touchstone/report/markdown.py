"""Markdown for pasting into an issue, a pull request or a post."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Severity, Verdict
from touchstone.report.format import NOTHING, plural
from touchstone.report.headroom import headroom_lines
from touchstone.report.sentence import machine, method, trace, what_ran
from touchstone.report.summary import struck_sentence, summary
from touchstone.report.table import Cell, Column, Row, Table, full_tables, headline_tables
from touchstone.report.view import View
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
    if view.run.interrupted:
        yield "**Interrupted:** what was measured until then is below."
        yield ""
    if view.judgement.verdict is not Verdict.VALID:
        yield f"**This run is {view.judgement.verdict}**; see [Findings](#findings)."
        yield ""
    yield from summary_lines(view)
    for table in headline_tables(view):
        yield from table_lines(table, "##")
        for place in dict.fromkeys(column.place for column in table.columns):
            yield from (f"{escaped(line)}\n" for line in headroom_lines(view, place))
    yield from crossing_lines(view)
    yield from absent_lines(view)
    yield from finding_lines(view)
    yield from ["## All figures", ""]
    for table in full_tables(view):
        yield from table_lines(table, "###")
    yield from ["## Method", "", escaped(method(view)), "", f"Run `{plan.run_id}`; trace a number: `{trace(view)}`."]


def summary_lines(view: View) -> Iterator[str]:
    """The comparisons in sentences, place by place."""
    groups = summary(view)
    if groups:
        yield from ["## Summary", ""]
    for group in groups:
        yield from [f"**{escaped(group.title)}**", ""]
        for line in group.lines:
            yield f"- {line.standing.mark} {escaped(line.sentence)}"
        for struck in group.struck:
            yield f"- {INVALID.mark} {_struck(escaped(struck_sentence(struck)), Verdict.INVALID)}"
        yield ""


def table_lines(table: Table, level: str) -> Iterator[str]:
    """A table under a heading of this level."""
    yield from [f"{level} {escaped(table.title)}", ""]
    yield "| contender | " + " | ".join(_head(column) for column in table.columns) + " |"
    yield "|---|" + "---:|" * len(table.columns)
    for row in table.rows:
        yield f"| {_name(row)} | " + " | ".join(_cell(cell) for cell in row.cells) + " |"
    yield ""


def _head(column: Column) -> str:
    return escaped(f"{column.figure.title}, {column.scale.suffix}".rstrip(", "))


def _name(row: Row) -> str:
    extra = {"exhibit": " (exhibit)", "baseline": " (baseline)", "invalid": " (invalid)"}.get(row.kind, "")
    return f"`{row.name}`{extra}"


def _cell(cell: Cell) -> str:
    if cell.text == NOTHING:
        return "invalid" if cell.verdict is Verdict.INVALID else "not measured"
    mark = VERDICT_MARKS[cell.verdict]
    bounds = f" ({cell.interval})" if cell.interval else ""
    return _struck(f"{cell.text}{bounds}", cell.verdict) + (f" {mark}" if mark else "")


def absent_lines(view: View) -> Iterator[str]:
    """What could not be measured, with the reasons."""
    if not view.not_measured:
        return
    yield from ["## Not measured", ""]
    for contender in view.not_measured:
        yield f"- `{contender.name}`: {escaped(contender.not_measured or '')}"
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
    """The findings, the gravest first."""
    yield from ["## Findings", ""]
    if not view.finding_groups:
        yield from ["None.", ""]
        return
    for group in view.finding_groups:
        first = group.first
        where = ", ".join(f"`{part}`" for part in (first.contender, first.load) if part) or "the run"
        weight = f"**{first.severity}**" if first.severity is not Severity.NOTE else first.severity
        yield f"- {weight} `{first.code}`, {where}: {escaped(first.statement)}"
        yield f"  - Next: {escaped(first.next_step)}"
        if len(group.samples) > 1:
            yield f"  - On {plural(len(group.samples), 'sample')}: {', '.join(f'`{s}`' for s in group.samples)}"
        elif group.samples:
            yield f"  - Sample `{group.samples[0]}`"
    yield ""


def _struck(text: str, verdict: Verdict) -> str:
    return f"~~{text}~~" if verdict is Verdict.INVALID else text


def escaped(text: str) -> str:
    """The text as Markdown shows it unchanged."""
    for character in "\\`*_|<>[]#":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
