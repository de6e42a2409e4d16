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


def print_pair(console: Console, judged: PairJudgement, terms: ComparisonTerms, view: View) -> None:
    """The table, what was found, what failed, what is open, and the verdict."""
    console.print()
    if judged.changes:
        console.print(table(judged.changes, "base", "head", contenders=False))
    if view.finding_groups:
        print_findings(console, view)
        console.print()
    print_gone(console, judged.gone)
    for failed in judged.failed:
        console.print(f"{failed.contender} failed: {failed.reason}", style="red", highlight=False, markup=False)
    if (judged.changes or judged.gone) and judged.standing is not PairStatus.INVALID and not judged.interrupted:
        print_gate(console, hold_against(judged.changes, judged.gone, terms), _ADVICE)
    if judged.interrupted:
        console.print("interrupted: this is what was measured until then", style="bold")
    else:
        console.print(f"{judged.standing}: {SENTENCES[judged.standing]}", highlight=False, style="bold")
