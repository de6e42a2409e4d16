"""Two revisions as two contenders of one run: what the later one changes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from touchstone.judge.comparison.across import Terms
from touchstone.judge.comparison.pair import PairJudgement, PairStanding, judge_pair
from touchstone.judge.judgement import Judgement
from touchstone.judge.why.explanation import Explanation, Unexplained
from touchstone.record.base import Record
from touchstone.record.run import Run


class Revision(Record):
    """A revision of a repository."""

    name: str
    """As it was asked for: `main`, `HEAD~3`."""
    commit: str
    subject: str = ""
    dirty: bool = False
    """True if it is the working tree with changes that are not committed; `commit` is then a snapshot of it."""

    @property
    def words(self) -> str:
        """`main (1a2b3c4d5e, Faster parser)`."""
        state = "with changes that are not committed" if self.dirty else self.commit[:10]
        return f"{self.name} ({state}, {self.subject})" if self.subject else f"{self.name} ({state})"


class RevisionsJudgement(PairJudgement):
    """All that is said of two revisions."""

    schema_: Literal["touchstone.revisions/1"] = Field(default="touchstone.revisions/1", alias="schema")
    base: Revision
    head: Revision
    contender: str
    """`stack/variant`, as the manifest calls it."""
    why: list[Explanation | Unexplained] = []
    """Where the difference of CPU per request is, load by load, if that was asked and there is one."""


def judge_revisions(
    run: Run,
    judgement: Judgement,
    revisions: tuple[Revision, Revision],
    contender: str,
    terms: Terms,
    *,
    same_sources: bool = False,
) -> RevisionsJudgement:
    """Say what the head changes, from one run with the stacks `base` and `head`.

    With `same_sources` neither was loaded, since nothing can be worse; the contract may still be broken.
    """
    variant = contender.partition("/")[2]
    said = judge_pair(run, judgement, (f"base/{variant}", f"head/{variant}"), terms, contender)
    if same_sources and not said.failed and not said.interrupted:
        said.standing = PairStanding.PASSED
    return RevisionsJudgement(**dict(said), base=revisions[0], head=revisions[1], contender=contender)
