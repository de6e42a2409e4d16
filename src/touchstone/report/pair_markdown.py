"""Two revisions or two runs, in Markdown for a job's summary or a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.judge.judgement import Outcome, Severity
from touchstone.report.changes import gone_words, left_out_words, table_lines
from touchstone.report.format import percent, plural
from touchstone.report.interval_plot import interval_plot
from touchstone.report.markdown import escaped, finding_lines
from touchstone.report.pair import SENTENCES, gain_lines, twin_lines
from touchstone.report.sentence import machine
from touchstone.report.view import View
from touchstone.report.why.latency import latency_lines
from touchstone.report.why.markdown import explanation_lines

MOST_BYTES = 64_000
"""A pull request's comment may have 65,536 characters; a job's summary a megabyte."""

_MOST_CHANGES, _MOST_LOST = 200, 20
_LONGEST = 400
"""Characters of a line of a log."""
MOST_LOADS = 4
"""The number of loads whose profiles are shown: one takes up to 8,000 characters."""


def revisions_document(judged: PairJudgement, view: View, *, less: int = 0) -> str:
    """Two revisions, below `MOST_BYTES` and `less` bytes. Findings that do not fit are counted."""
    head = "\n".join(_lines_of_revisions(judged, view)) + "\n"
    findings = [line for line in finding_lines(view) if line and not line.startswith("## ")]
    count = len(view.causes)
    opening = f"\n<details><summary>{plural(count, 'finding')}</summary>\n\n"
    closing = "\n</details>\n"
    left = MOST_BYTES - len((head + opening + closing).encode()) - 200 - less
    kept: list[str] = []
    for line in findings:
        left -= len(line.encode()) + 1
        if left < 0:
            kept.append("- more findings in the run's report")
            break
        kept.append(line)
    return head + opening + "\n".join(kept) + "\n" + closing


def runs_document(judged: PairJudgement) -> str:
    """Two runs: what changed from the earlier to the later one."""
    return "\n".join(_lines_of_runs(judged)) + "\n"


def _lines_of_runs(judged: PairJudgement) -> Iterator[str]:
    shown = [change for change in judged.changes if change.decided]
    undecided = sum(change.outcome is Outcome.UNDECIDED for change in judged.changes)
    yield f"### touchstone: {plural(len(shown), 'change')} of {plural(len(judged.changes), 'figure')}"
    yield ""
    yield f"{escaped(str(judged.head))} against {escaped(str(judged.base))}, {undecided} undecided."
    yield ""
    for note in judged.notes:
        yield f"{escaped(note)}\n"
    yield from _lost(judged)
    if judged.changes:
        yield from table_lines((shown or judged.changes)[:_MOST_CHANGES], "before", "after", contenders=True)


def _lost(judged: PairJudgement) -> Iterator[str]:
    """What failed, is gone, or could not be compared."""
    for failed in judged.failed[:_MOST_LOST]:
        yield f"- **{escaped(failed.contender)} failed:** {escaped(failed.reason[:2000])}"
        yield from _fenced(failed.details)
    for one in judged.gone[:_MOST_LOST]:
        yield f"- **gone:** {escaped(gone_words(one)[:2000])}"
    for left in judged.left_out[:_MOST_LOST]:
        yield f"- {escaped(left_out_words(left))}"
    if judged.failed or judged.gone or judged.left_out:
        yield ""


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Lines of a log as they are, within an item of a list. Three backquotes of their own do not end them."""
    if lines:
        shown = [f"  {line[:_LONGEST]}" for text in lines for line in text.splitlines()]
        yield from ["", "  ````text", *shown, "  ````", ""]


def _lines_of_revisions(judged: PairJudgement, view: View) -> Iterator[str]:
    base, head = judged.revisions
    yield f"### touchstone: {judged.standing}"
    yield ""
    yield f"{escaped(head.words)} against {escaped(base.words)}: {SENTENCES[judged.standing]}."
    yield ""
    yield from _caveat(view)
    yield from _lost(judged)
    if judged.changes:
        yield from table_lines(judged.changes[:_MOST_CHANGES], "base", "head")
        yield ""
    yield from interval_plot(judged.changes)
    turns = f"{plural(judged.rounds, 'round')}, both in turns in one run; each interval at {percent(judged.confidence)}"
    yield (
        f"{escaped(judged.contender)} of {escaped(judged.scenario)}, "
        f"{turns if judged.rounds else 'neither was loaded'}. "
        f"{escaped(machine(view))}."
        + (
            f" The null server's rate scatters by {percent(round(judged.noise, 4))}."
            if judged.noise is not None
            else ""
        )
    )
    for line in (*gain_lines(judged), *twin_lines(judged)):
        yield f"\n{escaped(line.strip())}"
    for note in judged.notes:
        yield f"\n{escaped(note)}"
    if judged.why:
        yield from ["", "<details><summary>Why: CPU per request in parts</summary>", ""]
        yield from explanation_lines(judged.why[:MOST_LOADS])
        yield "</details>"
    if judged.why_p99:
        yield from ["", "<details><summary>Why: p99 in parts</summary>", ""]
        for line in latency_lines(judged.why_p99[:MOST_LOADS]):
            yield escaped(line)
        yield "</details>"
    if judged.repeat:
        yield from ["", "Repeat it:", "", "````sh", *judged.repeat, "````"]


def _caveat(view: View) -> Iterator[str]:
    """The finding that matters most, unless it is a mere note."""
    cause = next(iter(view.causes), None)
    if cause is not None and cause.severity is not Severity.NOTE:
        yield from [f"> **{cause.severity}** `{cause.code}`: {escaped(cause.statement)}", ""]
