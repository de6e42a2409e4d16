"""What is judged of two contenders as a whole, in words: on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import GatePolicy, PairStatus, gains, hold_against
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.comparison.twin import PROVEN, TwinCheck
from touchstone.report.changes import print_gate, print_gone, row, table
from touchstone.report.format import percent, plural
from touchstone.report.terminal import print_findings
from touchstone.report.view import View

SENTENCES = {
    PairStatus.PASSED: "no figure that was asked about is worse by more than the margin",
    PairStatus.WORSE: "something has really become worse",
    PairStatus.UNDECIDED: "nobody can say yet whether something has become worse",
    PairStatus.INVALID: "the two could not be compared",
    PairStatus.UNRELIABLE: "the base differs from a copy of itself, so nothing can be judged of the head",
}
_ADVICE = "more time (`--minutes`), a wider margin (`--margin`, `--figure NAME=10%`), or a quieter machine"


def twin_lines(judged: PairJudgement) -> Iterator[str]:
    """What a copy of the base showed of the gate, a sentence per line. Nothing without one."""
    twin = judged.twin
    if twin is None:
        return
    for change in twin.different:
        words = row(change)
        yield f"the base and its copy differ: {words.place}: {words.figure}: {words.ratio}, margin {words.margin}"
    if twin.different:
        yield from (f"  {reason}" for reason in twin.could_explain)
        yield "  do: measure again with more `--minutes`, on a quieter machine, or with a wider margin"
    else:
        known = [change for change in twin.changes if change.interval is not None]
        widest = max(known, key=lambda one: (one.high or 1.0) / (one.low or 1.0), default=None)
        bounds = f", the widest interval that of {row(widest).figure}, {row(widest).ratio}" if widest else ""
        yield (
            f"twin: a copy of the base was compared with it in {plural(twin.rounds, 'round')}: "
            f"{plural(len(known), 'figure')}, none different{bounds}"
        )
    if counted := _count_words(twin):
        yield f"on this kind of machine {counted}"


def gain_lines(judged: PairJudgement) -> Iterator[str]:
    """Large improvements, each with the request for an explanation."""
    for change in gains(judged.changes):
        words = row(change)
        yield (
            f"explain this improvement: {words.place}: {words.figure}: {words.ratio}. Work that is skipped, an error "
            "path or a cache that should not be there looks like this; if it was intended, say so in the change"
        )


def policy_words(judged: PairJudgement, policy: GatePolicy) -> str | None:
    """Why this verdict does not block. None if it does, or if there is nothing to block."""
    if policy is GatePolicy.REQUIRED or judged.standing in (PairStatus.PASSED, PairStatus.INVALID):
        return None
    if policy is GatePolicy.ADVISORY:
        return f"advisory: the verdict is {judged.standing}, and the policy lets the change pass"
    counted = judged.twin.counted if judged.twin else None
    if counted is not None and counted.proven:
        return None
    known = _count_words(judged.twin) or "no twin has been counted"
    return (
        f"advisory: the verdict is {judged.standing}, and it blocks once this kind of machine has shown less than "
        f"{percent(PROVEN)} false alarms; until now {known}"
    )


def _count_words(twin: TwinCheck | None) -> str:
    """The counted false alarms, with their bound: `0 of 212 gates called a copy different at 3 %`. Empty for none."""
    if twin is None or twin.counted is None:
        return ""
    counted = twin.counted
    margins = " and ".join(percent(margin) for margin in sorted({change.margin for change in twin.changes}))
    return (
        f"{counted.different} of {plural(counted.gates, 'gate')} called a copy of the base different at "
        f"{margins}: at most {percent(round(counted.at_most, 3))} false alarms (95 % confidence)"
    )


def print_pair(console: Console, judged: PairJudgement, terms: ComparisonTerms, view: View) -> None:
    """The table, what was found, what failed, what is open, and the verdict."""
    console.print()
    if judged.changes:
        console.print(table(judged.changes, "base", "head", contenders=False))
    if view.finding_groups:
        print_findings(console, view)
        console.print()
    for line in (*gain_lines(judged), *twin_lines(judged)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    print_gone(console, judged.gone)
    for failed in judged.failed:
        console.print(f"{failed.contender} failed: {failed.reason}", style="red", highlight=False, markup=False)
    if (judged.changes or judged.gone) and judged.standing is not PairStatus.INVALID and not judged.interrupted:
        print_gate(console, hold_against(judged.changes, judged.gone, terms), _ADVICE)
    if judged.interrupted:
        console.print("interrupted: this is what was measured until then", style="bold")
    else:
        console.print(f"{judged.standing}: {SENTENCES[judged.standing]}", highlight=False, style="bold")
