"""Two runs side by side, in Markdown for a job's summary or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.comparison.across import Change, Gone
from touchstone.judge.comparison.machines import LeftOut
from touchstone.judge.judgement import Outcome
from touchstone.report.changes import gone_words, is_change, left_out_words, table_lines
from touchstone.report.format import plural
from touchstone.report.markdown import escaped

_MOST = 200


def document(
    names: tuple[str, str],
    changes: Sequence[Change],
    gone: Sequence[Gone],
    left_out: Sequence[LeftOut],
    notes: Sequence[str],
) -> str:
    """What changed from one run to another; `names` are the runs' ids."""
    return "\n".join(_lines(names, changes, gone, left_out, notes)) + "\n"


def _lines(
    names: tuple[str, str],
    changes: Sequence[Change],
    gone: Sequence[Gone],
    left_out: Sequence[LeftOut],
    notes: Sequence[str],
) -> Iterator[str]:
    shown = [change for change in changes if is_change(change)]
    undecided = sum(change.outcome is Outcome.UNDECIDED for change in changes)
    yield f"### touchstone: {plural(len(shown), 'change')} of {plural(len(changes), 'figure')}"
    yield ""
    yield f"{escaped(names[1])} against {escaped(names[0])}, {undecided} undecided."
    yield ""
    for note in notes:
        yield f"{escaped(note)}\n"
    for one in gone[:20]:
        yield f"- **gone:** {escaped(gone_words(one)[:2000])}"
    for left in left_out[:20]:
        yield f"- {escaped(left_out_words(left))}"
    if gone or left_out:
        yield ""
    if changes:
        yield from table_lines((shown or list(changes))[:_MOST], "before", "after", contenders=True)
