"""Two revisions as two contenders of one run: what the later one changes, in the words of two runs side by side."""

from __future__ import annotations

import statistics
from enum import StrEnum
from typing import Literal

from pydantic import Field

from touchstone.judge.comparison.across import Change, Gone, Terms, harmless, read_decision, usable
from touchstone.judge.comparison.gate import hold_against
from touchstone.judge.judgement import Comparison, Estimate, FailedContender, Judgement, Verdict
from touchstone.judge.statistics.intervals import Interval, decide
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.record.sample import TARE

Key = tuple[str, str | None, str]


class Standing(StrEnum):
    """What is said of the later revision as a whole."""

    PASSED = "passed"
    """No figure that was asked about is worse by more than the margin."""
    WORSE = "worse"
    """At least one is really worse, or gone."""
    UNDECIDED = "undecided"
    """Of at least one nobody can say that it is no worse."""
    INVALID = "invalid"
    """A revision does not build, breaks its contract, or could not be measured."""


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


class RevisionsJudgement(Record):
    """All that is said of two revisions."""

    schema_: Literal["touchstone.revisions/1"] = Field(default="touchstone.revisions/1", alias="schema")
    standing: Standing
    base: Revision
    head: Revision
    scenario: str
    contender: str
    """`stack/variant`, as the manifest calls it."""
    run: str
    """The id of the run."""
    rounds: int
    margin: float
    confidence: float
    """Of each interval: all of them hold together with what the user asked for."""
    noise: float | None = None
    """What the null server's rate scatters by from round to round, as a share, under the noisiest load."""
    interrupted: bool = False
    changes: list[Change]
    """Of the figures that were asked about: before is the base, after the head."""
    gone: list[Gone] = []
    """What the base has validly and the head has not."""
    failed: list[FailedContender] = []
    notes: list[str] = []


def judge_revisions(
    run: Run, judgement: Judgement, revisions: tuple[Revision, Revision], contender: str, terms: Terms
) -> RevisionsJudgement:
    """Say what the head changes, from one run with the stacks `base` and `head`."""
    before, after = _estimates(judgement, "base", terms), _estimates(judgement, "head", terms)
    changes = []
    for comparison in judgement.comparisons:
        key = _key(comparison)
        if key in before and key in after and comparison.contender.startswith("head/"):
            changes.append(_change(comparison, before[key], after[key], contender, terms))
    lost = _gone(before, after, judgement, contender)
    held = hold_against(changes, lost, terms)
    if judgement.failed or not changes:
        standing = Standing.INVALID
    elif held.breached or held.gone:
        standing = Standing.WORSE
    else:
        standing = Standing.UNDECIDED if held.open else Standing.PASSED
    return RevisionsJudgement(
        standing=standing,
        base=revisions[0],
        head=revisions[1],
        scenario=run.plan.scenario,
        contender=contender,
        run=run.plan.run_id,
        rounds=len({sample.round for sample in run.samples if sample.round and sample.contender.startswith("head/")}),
        margin=terms.margin,
        confidence=judgement.confidence,
        noise=_noise(judgement),
        interrupted=run.interrupted,
        changes=changes,
        gone=lost,
        failed=judgement.failed,
        notes=list(run.notes),
    )


def _estimates(judgement: Judgement, stack: str, terms: Terms) -> dict[Key, Estimate]:
    own = [e for e in judgement.estimates if e.contender.startswith(f"{stack}/") and terms.ask(e)]
    return {_key(e): e for e in own if usable(e)}


def _change(comparison: Comparison, before: Estimate, after: Estimate, contender: str, terms: Terms) -> Change:
    assert before.median is not None and after.median is not None  # `usable` has seen to it
    margin = terms.margin_of(comparison.figure)
    change = Change(
        phase=comparison.phase,
        contender=contender,
        load=comparison.load,
        figure=comparison.figure,
        before=before.median,
        after=after.median,
        ratio=comparison.ratio or after.median / before.median,
        low=comparison.low,
        high=comparison.high,
        outcome=comparison.outcome,
        margin=margin,
        more_rounds=comparison.more_rounds,
    )
    if comparison.low is not None and comparison.high is not None:
        interval = Interval(change.ratio, comparison.low, comparison.high)
        change.outcome, change.worse = read_decision(decide(interval, margin), comparison.figure)
        change.harmless = harmless(interval, comparison.figure, margin)
    return change


def _gone(before: dict[Key, Estimate], after: dict[Key, Estimate], judgement: Judgement, contender: str) -> list[Gone]:
    reasons = {
        _key(e): e.reason
        for e in judgement.estimates
        if e.contender.startswith("head/") and e.verdict is Verdict.INVALID
    }
    lost: dict[str | None, list[Key]] = {}
    for key in before:
        if key not in after:
            lost.setdefault(key[1], []).append(key)
    return [
        Gone(
            contender=contender,
            load=load,
            figures=[figure for _, _, figure in keys],
            reason=next((why for key in keys if (why := reasons.get(key))), None) or "the head did not give it",
        )
        for load, keys in lost.items()
    ]


def _noise(judgement: Judgement) -> float | None:
    tares = [e.values for e in judgement.estimates if e.contender == TARE and e.figure == "throughput"]
    return max((_scatter(values) for values in tares if len(values) > 1), default=None)


def _scatter(values: list[float]) -> float:
    """The median absolute deviation as that of a normal distribution, over the median."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values) / middle


def _key(of: Estimate | Comparison) -> Key:
    return of.phase, of.load, of.figure
