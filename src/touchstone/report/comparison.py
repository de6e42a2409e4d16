"""Two runs side by side, in Markdown for a job's summary or a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Outcome
from touchstone.report.changes import gone_words, left_out_words, table_lines
from touchstone.report.format import plural
from touchstone.report.markdown import escaped

_MOST = 200


def document(said: PairJudgement) -> str:
    """What changed from one run to another."""
    return "\n".join(_lines(said)) + "\n"


def _lines(said: PairJudgement) -> Iterator[str]:
    shown = [change for change in said.changes if change.decided]
    undecided = sum(change.outcome is Outcome.UNDECIDED for change in said.changes)
    yield f"### touchstone: {plural(len(shown), 'change')} of {plural(len(said.changes), 'figure')}"
    yield ""
    yield f"{escaped(str(said.head))} against {escaped(str(said.base))}, {undecided} undecided."
    yield ""
    for note in said.notes:
        yield f"{escaped(note)}\n"
    for one in said.gone[:20]:
        yield f"- **gone:** {escaped(gone_words(one)[:2000])}"
    for left in said.left_out[:20]:
        yield f"- {escaped(left_out_words(left))}"
    if said.gone or said.left_out:
        yield ""
    if said.changes:
        yield from table_lines((shown or said.changes)[:_MOST], "before", "after", contenders=True)
