"""Changes between two runs or two revisions, as one table: on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from touchstone.judge.comparison.across import MissingFigure
from touchstone.judge.comparison.gate import Gate
from touchstone.judge.comparison.pair import NotCompared
from touchstone.judge.judgement import Comparison, Outcome
from touchstone.report.format import percent, plural, quantity, ratio, ratio_interval
from touchstone.vocabulary.figure import FIGURES

_STYLES = {Outcome.BETTER: "green", Outcome.WORSE: "red", Outcome.UNDECIDED: "yellow"}


@dataclass(frozen=True)
class ChangeRow:
    """A change in words."""

    place: str
    """The contender, and the load if there is one."""
    figure: str
    before: str
    after: str
    ratio: str
    """With its interval, if there is one."""
    margin: str
    outcome: Outcome


def row(change: Comparison) -> ChangeRow:
    """A change as every report tells it."""
    figure = FIGURES[change.figure]
    bounds = ratio_interval(change.low, change.high)
    return ChangeRow(
        place=f"{change.contender}, {change.load}" if change.load else change.contender,
        figure=figure.title,
        before=_value(change.before, change),
        after=_value(change.after, change),
        ratio=f"{ratio(change.ratio)} ({bounds})" if bounds else ratio(change.ratio),
        margin=percent(change.margin),
        outcome=change.outcome,
    )


def _value(value: float | None, change: Comparison) -> str:
    return ratio(value) if change.relative_to else quantity(value, FIGURES[change.figure].unit)


def table(changes: Iterable[Comparison], before: str, after: str, *, contenders: bool = True) -> Table:
    """The changes for a terminal, with a column of contenders where there may be several."""
    first = ["contender"] if contenders else []
    shown = Table(*first, "load", "figure", before, after, "ratio", "", box=None, header_style="bold")
    for change in changes:
        words = row(change)
        style = _STYLES.get(words.outcome)
        word = f"[{style}]{words.outcome}[/]" if style else words.outcome
        cells = [escape(change.load or ""), words.figure, words.before, words.after, words.ratio, word]
        shown.add_row(*([escape(change.contender)] if contenders else []), *cells)
    return shown


def table_lines(changes: Iterable[Comparison], before: str, after: str, *, contenders: bool = False) -> Iterator[str]:
    """The changes in Markdown, with a column of contenders where there are several."""
    yield ("| contender " if contenders else "") + f"| load | figure | {before} | {after} | ratio | margin | verdict |"
    yield ("|---" if contenders else "") + "|---|---|---:|---:|---|---:|---|"
    for change in changes:
        words = row(change)
        verdict = f"**{words.outcome}**" if change.decided else words.outcome
        cells = [f"`{change.load}`" if change.load else "", words.figure, words.before, words.after, words.ratio]
        first = [f"`{change.contender}`"] if contenders else []
        yield "| " + " | ".join([*first, *cells, words.margin, verdict]) + " |"


def print_gone(console: Console, lost: Iterable[MissingFigure]) -> None:
    """What was there and is not any more."""
    for one in lost:
        console.print(f"[red]gone[/] {escape(gone_words(one))}", highlight=False)


def gone_words(one: MissingFigure) -> str:
    """What is gone, in a sentence."""
    place = f"{one.contender}, {one.load}" if one.load else one.contender
    return f"{place}: {plural(len(one.figures), 'figure')} that the earlier one has: {one.reason}"


def left_out_words(one: NotCompared) -> str:
    """What is not compared, in a sentence."""
    return f"not compared: {plural(one.figures, 'figure')} of {one.contender}: {one.reason}"


def print_gate(console: Console, held: Gate, advice: str) -> None:
    """What a gate says. `advice` tells how to decide what is open."""
    if held.breached or held.gone:
        console.print(
            f"[red]gate breached[/]: {plural(len(held.breached), 'figure')} worse, "
            f"{plural(sum(len(g.figures) for g in held.gone), 'figure')} gone",
            highlight=False,
        )
    elif not held.watched:
        console.print("[red]gate without a figure to watch[/]", highlight=False)
    elif held.open:
        console.print("[yellow]gate undecided[/]: nobody can say that these are no worse:", highlight=False)
    else:
        console.print("[green]gate passed[/]", highlight=False)
    for line in open_lines(held.open):
        console.print(f"  {line}", highlight=False)
    if held.open:
        console.print(f"  to decide: {advice}", highlight=False)


def open_lines(changes: Sequence[Comparison]) -> Iterator[str]:
    """What is open, a line each."""
    for change in changes:
        words = row(change)
        bounds = "" if change.low is not None else ", no interval"
        yield f"{words.place}: {words.figure}: {words.ratio}{bounds}, margin {words.margin}"
