"""What is said of two contenders as a whole, in words: on a terminal and in Markdown."""

from __future__ import annotations

from rich.console import Console

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import PairStatus, hold_against
from touchstone.judge.comparison.pair import PairJudgement
from touchstone.report.changes import print_gate, print_gone, table
from touchstone.report.terminal import print_findings
from touchstone.report.view import View

SENTENCES = {
    PairStatus.PASSED: "no figure that was asked about is worse by more than the margin",
    PairStatus.WORSE: "something has really become worse",
    PairStatus.UNDECIDED: "nobody can say yet whether something has become worse",
    PairStatus.INVALID: "the two could not be compared",
}
_ADVICE = "more time (`--minutes`), a wider margin (`--margin`, `--figure NAME=10%`), or a quieter machine"


def print_pair(console: Console, said: PairJudgement, terms: ComparisonTerms, view: View) -> None:
    """The table, what was found, what failed, what is open, and the verdict."""
    console.print()
    if said.changes:
        console.print(table(said.changes, "base", "head", contenders=False))
    if view.finding_groups:
        print_findings(console, view)
        console.print()
    print_gone(console, said.gone)
    for failed in said.failed:
        console.print(f"{failed.contender} failed: {failed.reason}", style="red", highlight=False, markup=False)
    if (said.changes or said.gone) and said.standing is not PairStatus.INVALID and not said.interrupted:
        print_gate(console, hold_against(said.changes, said.gone, terms), _ADVICE)
    if said.interrupted:
        console.print("interrupted: this is what was measured until then", style="bold")
    else:
        console.print(f"{said.standing}: {SENTENCES[said.standing]}", highlight=False, style="bold")
