"""An explanation on a terminal or in a log."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from touchstone.judge.why.explanation import (
    CountDifference,
    CpuBreakdown,
    CpuDifference,
    CpuExplanation,
    CpuPart,
    Unexplained,
)
from touchstone.report.format import percent
from touchstone.report.why.waterfall import WaterfallBar, waterfall
from touchstone.report.why.words import (
    account_headline,
    between,
    count,
    counts,
    headline,
    micros,
    off_cpu,
    profilers,
    rest,
    scale,
    sentence,
    signed,
    unmatched,
)

_BAR = 24
_WIDTH = 140


def print_explanation(console: Console, found: CpuExplanation | CpuBreakdown | Unexplained) -> None:
    """Print the parts, the functions and the system calls; or why there are none."""
    widen(console)
    match found:
        case Unexplained():
            pair = f"{found.contender} against {found.baseline}" if found.baseline else found.contender
            say(console, f"{pair}, {found.load}: not explained", "bold")
            say(console, found.reason)
        case CpuBreakdown():
            _print_account(console, found)
        case CpuExplanation():
            _print_difference(console, found)


def _print_account(console: Console, found: CpuBreakdown) -> None:
    say(console, f"{found.load}: {account_headline(found)}", "bold")
    console.print(_costs("CPU per request in parts", [*found.parts, found.rest], found.total.seconds))
    if found.functions:
        console.print(_costs("The functions that take most", found.functions, found.total.seconds))
    for title, rows in (("System calls per request", found.calls), ("Threads that wait, on average", found.waits)):
        if rows:
            table = make_table("", [title, found.contender])
            for row in rows:
                table.add_row(escape(row.name), count(row.each))
            console.print(table)
    for line in (off_cpu(found), f"Sampled by {found.profiler}."):
        if line:
            say(console, line, "dim")


def _costs(title: str, costs: Sequence[CpuPart], total: float) -> Table:
    table = make_table("", [title, "µs per request", "share", "interval"])
    for cost in costs:
        within = "" if cost.low is None or cost.high is None else f"{micros(cost.low)} to {micros(cost.high)}"
        table.add_row(escape(cost.name), micros(cost.seconds), percent(round(cost.seconds / total, 3)), within)
    return table


def _print_difference(console: Console, found: CpuExplanation) -> None:
    say(console, f"{found.load}: {headline(found)}", "bold")
    say(console, sentence(found))
    console.print(_waterfall(found))
    say(console, f"{scale(waterfall(found))} {rest(found)}", "dim")
    if found.functions:
        console.print(_functions(found))
    for head, rows in counts(found):
        console.print(_counts(found, head, rows))
    for line in (off_cpu(found), unmatched(found), f"Sampled by {profilers(found)}."):
        if line:
            say(console, line, "dim")


def widen(console: Console) -> None:
    """Give a log the width of a table with intervals."""
    if not console.is_terminal and console.width == 80:
        console.width = _WIDTH


def say(console: Console, text: str, style: str = "") -> None:
    """Print a line as it is: folded on a terminal, whole in a log."""
    console.print(Text(text, style=style), soft_wrap=not console.is_terminal)


def make_table(title: str, heads: Sequence[str]) -> Table:
    """An empty table whose columns after the first are numbers."""
    made = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        made.add_column(head, justify="left" if place == 0 else "right", no_wrap=place > 0, overflow="fold")
    return made


def _waterfall(found: CpuExplanation) -> Table:
    """From the baseline's figure to the contender's: each part begins where the one before it ended."""
    heads = ["µs of CPU per request", found.baseline, found.contender, "difference", "interval", "", "from A to B"]
    table = make_table("Where the difference is", heads)
    table.columns[-1].justify = "left"
    table.add_row(found.baseline, micros(found.total.baseline), "", "", "", "", "")
    fall = waterfall(found)
    for step in fall.steps:
        table.add_row(*_cells(step.part), _bar(step))
    total = found.total
    table.add_row(found.contender, "", micros(total.contender), signed(total.difference), "", "", _bar(fall.total))
    return table


def _cells(part: CpuDifference) -> list[str]:
    return [
        escape(part.name),
        micros(part.baseline),
        micros(part.contender),
        signed(part.difference),
        between(part),
        "" if part.low is None else "different" if part.sure else "~",
    ]


def _bar(step: WaterfallBar) -> Text:
    left, width = round(step.left * _BAR), max(1, round(step.width * _BAR))
    return Text(" " * left + "█" * width, style="yellow" if step.more else "green")


def _functions(found: CpuExplanation) -> Table:
    heads = ["function, with what works on its behalf", found.baseline, found.contender, "difference", "interval", ""]
    table = make_table("The functions that explain most, µs per request", [*heads, "mostly"])
    table.columns[-1].justify = "left"
    for part in found.functions:
        table.add_row(*_cells(part), part.category)
    return table


def _counts(found: CpuExplanation, head: str, rows: Sequence[CountDifference]) -> Table:
    table = make_table(head[0].upper() + head[1:], ["", found.baseline, found.contender, "difference"])
    for row in rows:
        table.add_row(escape(row.name), count(row.baseline), count(row.contender), count(row.difference, "+"))
    return table
