"""Judges a pair: two revisions, two services or two runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from touchstone.judge.comparison.across import ComparisonTerms, MissingFigure, usable
from touchstone.judge.comparison.gate import PairStatus, hold_against
from touchstone.judge.comparison.twin import TwinCheck, check_twin
from touchstone.judge.judgement import Comparison, Estimate, FailedContender, Judgement, Outcome, Verdict
from touchstone.judge.statistics.decision import Decision, decide
from touchstone.judge.why.explanation import CpuExplanation, Unexplained
from touchstone.judge.why.tail.explanation import LatencyExplanation
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.record.sample import TARE

Key = tuple[str, str | None, str]


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


class NotCompared(Record):
    """Figures that both runs have and that cannot be compared."""

    contender: str
    figures: int
    reason: str


class PairJudgement(Record):
    """The judgement of a pair: two revisions, two running services, or two runs."""

    schema_: Literal["touchstone.pair/1", "touchstone.revisions/1", "touchstone.urls/1"] = Field(
        default="touchstone.pair/1", alias="schema"
    )
    standing: PairStatus
    scenario: str
    run: str
    """The id of the run; of two runs the later one's."""
    rounds: int
    margin: float
    confidence: float
    """Confidence of each interval; all together hold with the user's confidence."""
    noise: float | None = None
    """What the null server's rate scatters by from round to round, as a share, under the noisiest load."""
    interrupted: bool = False
    changes: list[Comparison]
    """Comparisons of the requested figures: before is the base, after the head."""
    gone: list[MissingFigure] = []
    """What the base has validly and the head has not."""
    left_out: list[NotCompared] = []
    """What cannot be compared, of runs from different machines."""
    failed: list[FailedContender] = []
    notes: list[str] = []
    base: Revision | str
    """A revision, the URL of a service, or the id of a run."""
    head: Revision | str
    contender: str = ""
    """`stack/variant` of revisions, as the manifest calls it; of services the request."""
    twin: TwinCheck | None = Field(default=None, exclude_if=lambda twin: twin is None)
    """The base against a second copy of it; None where the gate had none. If they differ, there are no changes."""
    repeat: list[str] = Field(default=[], exclude_if=lambda lines: not lines)
    """Lines for a shell that measure the same revisions again."""
    why: list[CpuExplanation | Unexplained] = []
    """Where the difference of CPU per request is, load by load, if that was asked and there is one."""
    why_p99: list[LatencyExplanation | Unexplained] = []
    """Where the difference of p99 is, in the same way."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        """Changes of earlier versions name one contender."""
        match data:
            case {"schema": "touchstone.revisions/1" | "touchstone.urls/1", "changes": [*changes]}:
                named = [{"baseline": one.get("contender")} | one if isinstance(one, dict) else one for one in changes]
                return data | {"changes": named}
        return data

    @property
    def revisions(self) -> tuple[Revision, Revision]:
        """The base and the head, which are revisions."""
        assert isinstance(self.base, Revision) and isinstance(self.head, Revision)
        return self.base, self.head


Side = tuple[str, Revision | str]
"""A contender as the plan names it, and its revision or name."""


def judge_pair(
    run: Run,
    judgement: Judgement,
    sides: tuple[Side, Side],
    terms: ComparisonTerms,
    called: str,
    *,
    same_sources: bool = False,
) -> PairJudgement:
    """Judge the second contender against the first, in one run.

    Args:
        run: the record.
        judgement: of that run.
        sides: both contenders: as the plan names them, and what they are.
        terms: the figures, margins and loads that are asked about.
        called: what the pair is called in tables.
        same_sources: neither was loaded, since nothing can be worse; the contract may still be broken.

    """
    (first, base), (second, head) = sides
    before, after = _estimates(judgement, first, terms), _estimates(judgement, second, terms)
    changes = [
        comparison.model_copy(update={"contender": called, "baseline": called, "sentence": ""}).decided_by(
            comparison.interval, terms.margin_of(comparison.figure)
        )
        for comparison in judgement.comparisons
        if (comparison.contender, comparison.baseline) == (second, first)
        and _key(comparison) in before.keys() & after.keys()
    ]
    lost = _gone(before, after, judgement, second, called)
    twin = check_twin(run, judgement, first, terms, called)
    if twin is not None and twin.different and not judgement.failed:
        standing, changes, lost = PairStatus.UNRELIABLE, [], []
    elif judgement.failed or (not changes and (run.interrupted or not same_sources)):
        standing = PairStatus.INVALID
    else:
        standing = PairStatus.PASSED if same_sources else hold_against(changes, lost, terms).standing
    return PairJudgement(
        standing=standing,
        scenario=run.plan.scenario,
        run=run.plan.run_id,
        rounds=len({sample.round for sample in run.samples if sample.round and sample.contender == second}),
        margin=terms.margin,
        confidence=judgement.confidence,
        noise=_noise(judgement),
        interrupted=run.interrupted,
        changes=changes,
        gone=lost,
        failed=judgement.failed,
        notes=list(run.notes),
        base=base,
        head=head,
        contender=called,
        twin=twin,
    )


def judge_runs(
    before: Run,
    after: Run,
    changes: Sequence[Comparison],
    lost: Sequence[MissingFigure],
    terms: ComparisonTerms,
    *,
    left_out: Sequence[NotCompared] = (),
    notes: Sequence[str] = (),
) -> PairJudgement:
    """Judge a later run against an earlier one."""
    return PairJudgement(
        standing=hold_against(changes, lost, terms).standing,
        scenario=after.plan.scenario,
        run=after.plan.run_id,
        rounds=len({sample.round for sample in after.samples if sample.round}),
        margin=terms.margin,
        confidence=terms.confidence,
        interrupted=before.interrupted or after.interrupted,
        changes=list(changes),
        gone=list(lost),
        left_out=list(left_out),
        notes=list(notes),
        base=before.plan.run_id,
        head=after.plan.run_id,
    )


def still_open(comparison: Comparison, terms: ComparisonTerms) -> bool:
    """Whether a requested figure is undecided at its margin."""
    if comparison.figure not in terms.figures:
        return False
    if comparison.interval is None:
        return comparison.outcome is Outcome.UNDECIDED
    return decide(comparison.interval, terms.margin_of(comparison.figure)) is Decision.OPEN


def _estimates(judgement: Judgement, contender: str, terms: ComparisonTerms) -> dict[Key, Estimate]:
    own = [e for e in judgement.estimates if e.contender == contender and terms.ask(e)]
    return {_key(e): e for e in own if usable(e)}


def _gone(
    before: dict[Key, Estimate], after: dict[Key, Estimate], judgement: Judgement, second: str, called: str
) -> list[MissingFigure]:
    reasons = {_key(e): e.reason for e in judgement.estimates if e.contender == second and e.verdict is Verdict.INVALID}
    lost: dict[str | None, list[Key]] = {}
    for key in before:
        if key not in after:
            lost.setdefault(key[1], []).append(key)
    return [
        MissingFigure(
            contender=called,
            load=load,
            figures=[figure for _, _, figure in keys],
            reason=next((why for key in keys if (why := reasons.get(key))), None) or "the second did not give it",
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
