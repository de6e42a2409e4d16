"""Two runs side by side: the same contender's figures before and after, and whether a change is real."""

from __future__ import annotations

from touchstone.judge.judgement import Estimate, Judgement, Outcome, Verdict
from touchstone.judge.statistics import Decision, decide, holm, unpaired_ratio_interval
from touchstone.record.base import Record
from touchstone.record.figure import FIGURES, Better
from touchstone.record.run import Environment, Run

_SAME = ("cpu_model", "cpus", "memory", "kernel", "engine_sha256")
"""Facts of the machine that must agree before figures of two runs may be set against each other."""


class Change(Record):
    """A figure of one contender in both runs: the ratio after/before with its interval."""

    phase: str
    contender: str
    load: str | None
    figure: str
    before: float
    after: float
    ratio: float
    low: float | None = None
    high: float | None = None
    outcome: Outcome = Outcome.UNDECIDED
    worse: bool = False
    """True if the change is real and in the figure's bad direction: what a gate looks for."""


def differences(before: Environment, after: Environment) -> list[str]:
    """What keeps two runs from being compared, in words; empty if nothing does."""
    return [
        f"{name}: {getattr(before, name)!r} before, {getattr(after, name)!r} after"
        for name in _SAME
        if getattr(before, name) != getattr(after, name)
    ]


def changes(before: Judgement, after: Judgement, margin: float, confidence: float) -> list[Change]:
    """Every figure that both runs have validly, as an unpaired ratio (rounds of two runs share nothing).

    Holm's correction covers all of them together. With too few rounds for an interval a change stays undecided.
    """
    old = {_key(e): e for e in before.estimates if _usable(e)}
    pairs = [(old[_key(e)], e) for e in after.estimates if _usable(e) and _key(e) in old]
    intervals = [unpaired_ratio_interval(b.values, a.values, confidence) for a, b in pairs]
    corrected = iter(holm([found[1] for found in intervals if found is not None]))
    result = []
    for (earlier, later), found in zip(pairs, intervals, strict=True):
        assert earlier.median is not None and later.median is not None  # `_usable` has seen to it
        change = Change(
            phase=later.phase,
            contender=later.contender,
            load=later.load,
            figure=later.figure,
            before=earlier.median,
            after=later.median,
            ratio=later.median / earlier.median,
        )
        if found is not None:
            interval = found[0]
            decision = decide(interval, next(corrected), margin, confidence)
            change.ratio, change.low, change.high = interval.point, interval.low, interval.high
            change.outcome, change.worse = _read(decision, later.figure)
        result.append(change)
    return result


def comparable(before: Run, after: Run) -> list[str]:
    """Why these two runs cannot be compared, in words; empty if they can."""
    reasons = differences(before.environment, after.environment)
    if before.plan.scenario != after.plan.scenario:
        reasons.append(f"scenario: {before.plan.scenario!r} before, {after.plan.scenario!r} after")
    elif before.plan.scenario_version != after.plan.scenario_version:
        reasons.append(f"scenario version: {before.plan.scenario_version} before, {after.plan.scenario_version} after")
    if before.plan.profile != after.plan.profile:
        reasons.append(f"profile: {before.plan.profile} before, {after.plan.profile} after")
    return reasons


def _key(estimate: Estimate) -> tuple[str, str, str | None, str]:
    return estimate.phase, estimate.contender, estimate.load, estimate.figure


def _usable(estimate: Estimate) -> bool:
    return estimate.verdict is not Verdict.INVALID and bool(estimate.median) and estimate.contender != "tare"


def _read(decision: Decision, figure: str) -> tuple[Outcome, bool]:
    if decision is Decision.WITHIN:
        return Outcome.EQUIVALENT, False
    if decision is Decision.OPEN:
        return Outcome.UNDECIDED, False
    better = FIGURES[figure].better
    risen = decision is Decision.HIGHER
    worse = better is not Better.NEITHER and risen == (better is Better.LOWER)
    return (Outcome.SLOWER if worse else Outcome.FASTER), worse
