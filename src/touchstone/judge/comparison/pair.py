"""Two contenders of one run, of which one is the other's successor or rival: what the second changes, in the words of
two runs side by side.
"""

from __future__ import annotations

import statistics
from enum import StrEnum

from touchstone.judge.comparison.across import Change, Gone, Terms, decide_change, usable
from touchstone.judge.comparison.gate import hold_against
from touchstone.judge.judgement import Comparison, Estimate, FailedContender, Judgement, Outcome, Verdict
from touchstone.judge.statistics.intervals import Decision, Interval, decide
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.record.sample import TARE

Key = tuple[str, str | None, str]


class PairStanding(StrEnum):
    """What is said of the second contender as a whole."""

    PASSED = "passed"
    """No figure that was asked about is worse by more than the margin."""
    WORSE = "worse"
    """At least one is really worse, or gone."""
    UNDECIDED = "undecided"
    """Of at least one nobody can say that it is no worse."""
    INVALID = "invalid"
    """One of them does not build, breaks its contract, or could not be measured."""


class PairJudgement(Record):
    """All that is said of two contenders."""

    standing: PairStanding
    scenario: str
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
    """Of the figures that were asked about: before is the first, after the second."""
    gone: list[Gone] = []
    """What the first has validly and the second has not."""
    failed: list[FailedContender] = []
    notes: list[str] = []


def judge_pair(run: Run, judgement: Judgement, names: tuple[str, str], terms: Terms, called: str) -> PairJudgement:
    """Say what the second contender changes against the first.

    Args:
        run: the record.
        judgement: of that run.
        names: both contenders, as the plan names them.
        terms: the figures, margins and loads that are asked about.
        called: what the pair is called in tables.

    """
    first, second = names
    before, after = _estimates(judgement, first, terms), _estimates(judgement, second, terms)
    changes = []
    for comparison in judgement.comparisons:
        key = _key(comparison)
        if key in before and key in after and (comparison.contender, comparison.baseline) == (second, first):
            changes.append(_change(comparison, before[key], after[key], called, terms))
    lost = _gone(before, after, judgement, second, called)
    held = hold_against(changes, lost, terms)
    if judgement.failed or not changes:
        standing = PairStanding.INVALID
    elif held.breached or held.gone:
        standing = PairStanding.WORSE
    else:
        standing = PairStanding.UNDECIDED if held.open else PairStanding.PASSED
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
    )


def still_open(comparison: Comparison, terms: Terms) -> bool:
    """Whether a figure that was asked about lies neither within its own margin nor outside."""
    if comparison.figure not in terms.figures:
        return False
    if comparison.low is None or comparison.high is None or comparison.ratio is None:
        return comparison.outcome is Outcome.UNDECIDED
    interval = Interval(comparison.ratio, comparison.low, comparison.high)
    return decide(interval, terms.margin_of(comparison.figure)) is Decision.OPEN


def _estimates(judgement: Judgement, contender: str, terms: Terms) -> dict[Key, Estimate]:
    own = [e for e in judgement.estimates if e.contender == contender and terms.ask(e)]
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
        decide_change(change, Interval(change.ratio, comparison.low, comparison.high))
    return change


def _gone(
    before: dict[Key, Estimate], after: dict[Key, Estimate], judgement: Judgement, second: str, called: str
) -> list[Gone]:
    reasons = {_key(e): e.reason for e in judgement.estimates if e.contender == second and e.verdict is Verdict.INVALID}
    lost: dict[str | None, list[Key]] = {}
    for key in before:
        if key not in after:
            lost.setdefault(key[1], []).append(key)
    return [
        Gone(
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
