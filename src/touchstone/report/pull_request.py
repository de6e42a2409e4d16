"""The comment on a pull request: the summary of the latest gate, and the verdicts of the ones before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pydantic import TypeAdapter, ValidationError

from touchstone.judge.comparison.pair import PairJudgement
from touchstone.record.base import Record
from touchstone.report.changes import row
from touchstone.report.markdown import escaped
from touchstone.report.pair_markdown import revisions_document
from touchstone.report.view import View

_MOST_RUNS = 10
_RUNS = "<!-- touchstone runs "
_END = " -->"


class PastVerdict(Record):
    """A verdict that an earlier run gave in the same comment."""

    head: str
    """The first characters of the commit."""
    standing: str
    changes: str
    """The decided figures in words; empty if there are none."""


def mark_of(judged: PairJudgement) -> str:
    """The first line of the comment, by which a later run finds it. It names the scenario and the contender."""
    named = _hidden(f"{judged.scenario} {judged.contender}")
    return f"<!-- touchstone gate {named}{_END}"


def comment_document(judged: PairJudgement, view: View, earlier: Sequence[PastVerdict]) -> str:
    """The whole comment. Below 65,536 characters, as GitHub demands.

    `earlier` are the verdicts of the comment that it replaces.
    """
    whole = [*earlier, _verdict(judged)][-_MOST_RUNS:]
    head, tail = f"{mark_of(judged)}\n", "\n".join(["", *_history(whole), _kept(whole), ""])
    return head + revisions_document(judged, view, less=len((head + tail).encode())) + tail


def earlier_verdicts(comment: str) -> list[PastVerdict]:
    """The verdicts that a comment holds; none if somebody has changed them beyond recognition."""
    begin = comment.rfind(_RUNS)
    end = comment.find(_END, begin)
    if begin < 0 or end < 0:
        return []
    try:
        return TypeAdapter(list[PastVerdict]).validate_json(comment[begin + len(_RUNS) : end])
    except ValidationError:
        return []


def _verdict(judged: PairJudgement) -> PastVerdict:
    decided = [row(change) for change in judged.changes if change.decided]
    words = "; ".join(f"{one.place}: {one.figure} {one.ratio} {one.outcome}" for one in decided[:4])
    _, head = judged.revisions
    return PastVerdict(head=head.commit[:10], standing=judged.standing, changes=words[:400])


def _history(verdicts: Sequence[PastVerdict]) -> Iterator[str]:
    """The verdicts of the pull request, the latest first; nothing for the first one."""
    if len(verdicts) < 2:
        return
    yield from ["| head | verdict | decided |", "|---|---|---|"]
    for one in reversed(verdicts):
        yield f"| `{escaped(one.head)}` | {escaped(one.standing)} | {escaped(one.changes)} |"
    yield ""


def _kept(verdicts: Sequence[PastVerdict]) -> str:
    """The line that `earlier_verdicts` reads."""
    return f"{_RUNS}{_hidden(json.dumps([one.model_dump() for one in verdicts]))}{_END}"


def _hidden(text: str) -> str:
    """The text as it may stand in a comment of HTML; JSON stays the same JSON."""
    return text.replace("--", "-\\u002d").replace(">", "\\u003e").replace("<", "\\u003c")
