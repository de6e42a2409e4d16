"""Two revisions or two runs, in Markdown for a job's summary or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Outcome
from touchstone.report.changes import gone_words, left_out_words, table_lines
from touchstone.report.format import percent, plural
from touchstone.report.markdown import escaped, finding_lines
from touchstone.report.pair import SENTENCES
from touchstone.report.sentence import machine
from touchstone.report.view import View
from touchstone.report.why.markdown import explanation_lines

MOST_BYTES = 64_000
"""A pull request's comment may have 65,536 characters; a job's summary a megabyte."""

_MOST_CHANGES, _MOST_LOST = 200, 20
_LONGEST = 400
"""Characters of a line of a log."""
MOST_LOADS = 4
"""The number of loads whose profiles are shown: one takes up to 8,000 characters."""


def revisions_document(said: PairJudgement, view: View) -> str:
    """Two revisions, below `MOST_BYTES`: of findings that do not fit it is said how many there are."""
    head = "\n".join(_lines_of_revisions(said, view)) + "\n"
    findings = [line for line in finding_lines(view) if line and not line.startswith("## ")]
    count = len(view.causes)
    opening = f"\n<details><summary>{plural(count, 'finding')}</summary>\n\n"
    closing = "\n</details>\n"
    left = MOST_BYTES - len((head + opening + closing).encode()) - 200
    kept: list[str] = []
    for line in findings:
        left -= len(line.encode()) + 1
        if left < 0:
            kept.append("- more findings in the run's report")
            break
        kept.append(line)
    return head + opening + "\n".join(kept) + "\n" + closing


def runs_document(said: PairJudgement) -> str:
    """Two runs: what changed from the earlier to the later one."""
    return "\n".join(_lines_of_runs(said)) + "\n"


def _lines_of_runs(said: PairJudgement) -> Iterator[str]:
    shown = [change for change in said.changes if change.decided]
    undecided = sum(change.outcome is Outcome.UNDECIDED for change in said.changes)
    yield f"### touchstone: {plural(len(shown), 'change')} of {plural(len(said.changes), 'figure')}"
    yield ""
    yield f"{escaped(str(said.head))} against {escaped(str(said.base))}, {undecided} undecided."
    yield ""
    for note in said.notes:
        yield f"{escaped(note)}\n"
    yield from _lost(said)
    if said.changes:
        yield from table_lines((shown or said.changes)[:_MOST_CHANGES], "before", "after", contenders=True)


def _lost(said: PairJudgement) -> Iterator[str]:
    """What failed, is gone, or could not be compared."""
    for failed in said.failed[:_MOST_LOST]:
        yield f"- **{escaped(failed.contender)} failed:** {escaped(failed.reason[:2000])}"
        yield from _fenced(failed.details)
    for one in said.gone[:_MOST_LOST]:
        yield f"- **gone:** {escaped(gone_words(one)[:2000])}"
    for left in said.left_out[:_MOST_LOST]:
        yield f"- {escaped(left_out_words(left))}"
    if said.failed or said.gone or said.left_out:
        yield ""


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Lines of a log as they are, within an item of a list; three backquotes of their own do not end them."""
    if lines:
        shown = [f"  {line[:_LONGEST]}" for text in lines for line in text.splitlines()]
        yield from ["", "  ````text", *shown, "  ````", ""]


def _lines_of_revisions(said: PairJudgement, view: View) -> Iterator[str]:
    base, head = said.revisions
    yield f"### touchstone: {said.standing}"
    yield ""
    yield f"{escaped(head.words)} against {escaped(base.words)}: {SENTENCES[said.standing]}."
    yield ""
    yield from _lost(said)
    if said.changes:
        yield from table_lines(said.changes[:_MOST_CHANGES], "base", "head")
        yield ""
    turns = f"{plural(said.rounds, 'round')}, both in turns in one run; each interval at {percent(said.confidence)}"
    yield (
        f"{escaped(said.contender)} of {escaped(said.scenario)}, {turns if said.rounds else 'neither was loaded'}. "
        f"{escaped(machine(view))}."
        + (f" The null server's rate scatters by {percent(round(said.noise, 4))}." if said.noise is not None else "")
    )
    for note in said.notes:
        yield f"\n{escaped(note)}"
    if said.why:
        yield from ["", "<details><summary>Why: CPU per request in parts</summary>", ""]
        yield from explanation_lines(said.why[:MOST_LOADS])
        yield "</details>"
