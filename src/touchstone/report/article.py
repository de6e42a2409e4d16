"""A post's draft from a run: Markdown with method, tables, verdicts, and the plots as SVG files next to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import escape

from touchstone.judge.judgement import Severity, Verdict
from touchstone.report.claims import words
from touchstone.report.claims.view import RuledFile
from touchstone.report.export import write
from touchstone.report.html import environment
from touchstone.report.markdown import absent_lines, escaped, summary_lines, table_lines
from touchstone.report.plots.canvas import PALETTE_SIZE
from touchstone.report.plots.panel import LegendEntry, Panel
from touchstone.report.sections.environment import rows_of
from touchstone.report.sections.places import panels_of
from touchstone.report.sentence import load_line, machine, method, notes, trace, what_ran
from touchstone.report.table import headline_tables
from touchstone.report.view import PhaseAndLoad, View

POST = "post.md"

_LEGEND_ROW = 20.0


def render_article(view: View, ruled: Sequence[RuledFile], folder: Path) -> list[Path]:
    """Write the draft and its plots to `folder`; the draft is the first of the list. Raises TouchstoneError."""
    drawn: dict[str, tuple[Panel, str]] = {}
    for place in view.places:
        for panel in panels_of(view, [place]):
            name = _file_name(place, panel, drawn)
            drawn[name] = (panel, view.title(place))
    post = write(folder / POST, "\n".join(_lines(view, ruled, drawn)) + "\n")
    style = _style()
    return [post, *(write(folder / name, _standalone(panel, style)) for name, (panel, _) in drawn.items())]


def _file_name(place: PhaseAndLoad, panel: Panel, taken: dict[str, tuple[Panel, str]]) -> str:
    words_ = re.sub(r"[^a-z0-9]+", "-", f"{place.phase} {place.load or ''} {panel.title}".lower()).strip("-")
    number = sum(name.startswith(words_) for name in taken)
    return f"{words_}{f'-{number + 1}' if number else ''}.svg"


def _style() -> str:
    """The report's colours and fonts, for light and dark, without the rules of its pages."""
    sheet = environment().get_template("style.css").render()
    return sheet[: sheet.index("* { box-sizing")]


def _standalone(panel: Panel, style: str) -> str:
    """A drawing of a page as a file of its own: with the page's colours, a background, a size, and its legend below."""
    head, rest = str(panel.svg).split(">", 1)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    width, height = (float(box.group(1)), float(box.group(2))) if box else (440.0, 300.0)
    whole = height + _LEGEND_ROW * len(panel.legend) + (_LEGEND_ROW / 2 if panel.legend else 0.0)
    head = re.sub(r'viewBox="[^"]+"', f'viewBox="0 0 {width:g} {whole:g}" width="{width:g}" height="{whole:g}"', head)
    legend = "".join(_legend_row(entry, height + _LEGEND_ROW * row) for row, entry in enumerate(panel.legend))
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head}><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="var(--panel)"/>{rest.removesuffix("</svg>")}{legend}</svg>\n'
    )


def _legend_row(entry: LegendEntry, top: float) -> str:
    colour = f"var(--c{(entry.colour - 1) % PALETTE_SIZE + 1})" if entry.colour else "var(--muted)"
    note = f" ({entry.note})" if entry.note else ""
    return (
        f'<rect x="14" y="{top + 8:g}" width="18" height="4" rx="2" fill="{colour}"/>'
        f'<text x="40" y="{top + 14:g}" font-size="12.5" font-family="var(--sans)" fill="var(--ink)">'
        f"{escape(entry.name + note)}</text>"
    )


def _lines(view: View, ruled: Sequence[RuledFile], drawn: dict[str, tuple[Panel, str]]) -> Iterator[str]:
    plan = view.plan
    yield from [f"# {escaped(plan.scenario_title)}: {_names(view)}", ""]
    yield from [
        "> A draft made from measurements: the numbers are complete, the words are yours. Leave the intervals in, say",
        "> what differs from your readers' machines, and do not quote what is marked suspect or invalid.",
        "",
    ]
    if view.judgement.verdict is not Verdict.VALID:
        yield from [f"> **The run is {view.judgement.verdict}.** See what the judge found, below.", ""]
    yield from ["## What was compared", ""]
    for contender in view.measured:
        exhibit = f" Exhibit: {escaped(contender.exhibit)}" if contender.exhibit else ""
        tools = ", ".join(f"{tool} {version}" for tool, version in contender.tools.items())
        yield f"- `{contender.name}`: {escaped(contender.title)}{f' ({escaped(tools)})' if tools else ''}.{exhibit}"
    yield ""
    for note in notes(view):
        yield f"- {escaped(note)}"
    for place in view.loads():
        yield f"- {escaped(load_line(view, place.load or ''))}"
    yield ""
    yield from ["## How it was measured", "", escaped(method(view)), ""]
    yield from [f"Machine: {escaped(machine(view))}.  ", f"Run: {escaped(what_ran(view))}.", ""]
    shared = view.plan.placement.shared
    if shared:
        yield from [f"CPUs are shared: {escaped('; '.join(shared))}.", ""]
    yield from summary_lines(view)
    for table in headline_tables(view):
        yield from table_lines(table, "##")
        places = {view.title(column.place) for column in table.columns}
        yield from _plots([(name, panel) for name, (panel, title) in drawn.items() if title in places])
    shown = {view.title(column.place) for table in headline_tables(view) for column in table.columns}
    rest = [(name, panel) for name, (panel, title) in drawn.items() if title not in shown]
    if rest:
        yield from ["## Further plots", "", *_plots(rest)]
    yield from absent_lines(view)
    yield from _claims(ruled)
    yield from _caveats(view)
    yield from ["## To repeat it", "", "```", " ".join(plan.command) or f"touchstone run {plan.scenario}", "```", ""]
    yield f"Run `{plan.run_id}`, seed {plan.seed}. A number's origin: `{trace(view)}`."
    yield from ["", "| environment | |", "|---|---|"]
    yield from (f"| {escaped(name)} | {escaped(value)} |" for name, value in rows_of(view))


def _names(view: View) -> str:
    names = [contender.name for contender in view.measured if not contender.exhibit]
    return escaped(", ".join(names[:4]) + (" and others" if len(names) > 4 else ""))


def _plots(panels: Sequence[tuple[str, Panel]]) -> Iterator[str]:
    for name, panel in panels:
        yield from [f"![{escaped(panel.title)}]({name})", "", f"*{escaped(panel.title)}. {escaped(panel.caption)}*", ""]


def _claims(ruled: Sequence[RuledFile]) -> Iterator[str]:
    articles = [
        (one, claims) for one in ruled for claims in [[c for c in one.file.claims if one.of(c).measured]] if claims
    ]
    if not articles:
        return
    yield from ["## What others published, and what this run says of it", ""]
    for one, claims in articles:
        yield from [f"**{escaped(one.file.title)}**", "", "| | statement | verdict | published | measured | interval |"]
        yield "|---|---|---|---:|---:|---:|"
        order = list(words.SIGNS)
        for claim in sorted(claims, key=lambda c: order.index(one.of(c).ruling)):
            ruling = one.of(claim)
            shown = [m for m in ruling.measurements if m.value is not None or m.happened is not None]
            cells = [
                claim.id,
                claim.says,
                ruling.ruling,
                "; ".join(words.value(m.published, m.unit) for m in shown if m.published is not None),
                "; ".join(words.measured(m) for m in shown),
                "; ".join(words.interval(m) for m in shown if words.interval(m)),
            ]
            yield "| " + " | ".join(escaped(str(cell)) for cell in cells) + " |"
        yield ""


def _caveats(view: View) -> Iterator[str]:
    yield from ["## What the judge found", ""]
    grave = [group for group in view.finding_groups if group.first.severity is not Severity.NOTE]
    if not grave:
        yield from ["Nothing that makes a number suspect or invalid.", ""]
        return
    for group in grave:
        first = group.first
        where = ", ".join(f"`{part}`" for part in (first.contender, first.load) if part) or "the run"
        yield f"- **{first.severity}**, {where}: {escaped(first.statement)}"
    yield ""
