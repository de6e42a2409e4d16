"""Two runs side by side: the same contender's figures before and after, and whether a change is real."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Estimate, Judgement, Outcome, Verdict
from touchstone.judge.statistics.intervals import Decision, Interval, decide, simultaneous, unpaired_ratio_interval
from touchstone.record.base import Record
from touchstone.record.run import Environment, Run
from touchstone.vocabulary.figure import FIGURES, Better

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
    """The interval that decides: it is corrected for the family that the figure was compared in."""
    outcome: Outcome = Outcome.UNDECIDED
    worse: bool = False
    """True if the change is real and in the figure's bad direction."""
    harmless: bool = False
    """True if the whole interval lies no further in the bad direction than the margin."""
    margin: float = 0.0
    """The least change of this figure that matters, as a share."""
    relative_to: str | None = None
    """The contender of the same run to which `before` and `after` are ratios; None where they are in the base unit."""
    more_rounds: int | None = None
    """How many further rounds of both runs would decide it, if it is undecided."""


class Gone(Record):
    """Something that the earlier run has validly and the later one has not."""

    contender: str
    load: str | None
    figures: list[str]
    reason: str


@dataclass(frozen=True)
class Terms:
    """On which terms two runs are compared."""

    margin: float
    """The least change that matters, as a share."""
    confidence: float
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """The figures asked about, each with a margin of its own or None; all if it is empty."""
    loads: tuple[str, ...] = ()
    """The loads asked about; all if it is empty."""

    def ask(self, estimate: Estimate) -> bool:
        """Whether the figure is one of those asked about."""
        return (not self.figures or estimate.figure in self.figures) and (
            not self.loads or estimate.load in self.loads or estimate.load is None
        )

    def margin_of(self, figure: str) -> float:
        """The least change of a figure that matters."""
        own = self.figures.get(figure)
        return self.margin if own is None else own


def differences(before: Environment, after: Environment) -> list[str]:
    """What keeps two runs from being compared, in words; empty if nothing does."""
    return [
        f"{name}: {getattr(before, name)!r} before, {getattr(after, name)!r} after"
        for name in _SAME
        if getattr(before, name) != getattr(after, name)
    ]


def changes(before: Judgement, after: Judgement, terms: Terms) -> list[Change]:
    """Every figure that both runs have validly, as an unpaired ratio (rounds of two runs share nothing).

    A family is one figure under one load, over all contenders; where figures were asked for by name, all of them
    together are one family. Intervals are Bonferroni's, simultaneous within the family: the interval that is shown is
    the one that decides.
    """
    old = {_key(e): e for e in before.estimates if usable(e) and terms.ask(e)}
    pairs = [(old[_key(e)], e) for e in after.estimates if usable(e) and _key(e) in old]
    families = Counter(_family(e, terms) for _, e in pairs if not is_exact(e.figure))
    return [_change(b, a, terms, families[_family(a, terms)]) for b, a in pairs]


def gone(before: Run, after: Run, judged: tuple[Judgement, Judgement], terms: Terms) -> list[Gone]:
    """What the earlier run has validly and the later one has not: nobody knows whether it has become worse.

    All figures of a contender that failed in any round of the later run alone: those that it has are of its good days.
    """
    old, new = judged
    fallen = {f.contender for f in new.failed} - {f.contender for f in old.failed}
    kept = {_key(e) for e in new.estimates if usable(e)}
    missing: dict[tuple[str, str | None], list[Estimate]] = {}
    for estimate in old.estimates:
        lost = _key(estimate) not in kept or estimate.contender in fallen
        if lost and usable(estimate) and terms.ask(estimate):
            missing.setdefault((estimate.contender, estimate.load), []).append(estimate)
    exhibits = {c.name for c in before.plan.contenders if c.exhibit}
    return [
        Gone(
            contender=contender,
            load=load,
            figures=[e.figure for e in lost],
            reason=_why_gone(contender, lost, after, new),
        )
        for (contender, load), lost in missing.items()
        if contender not in exhibits
    ]


def _why_gone(contender: str, lost: list[Estimate], after: Run, judged: Judgement) -> str:
    if failed := next((f for f in judged.failed if f.contender == contender), None):
        return failed.reason
    plan = next((c for c in after.plan.contenders if c.name == contender), None)
    if plan is None:
        return "the later run does not have the contender"
    if plan.not_measured:
        return f"not measured: {plan.not_measured}"
    keys = {_key(e) for e in lost}
    invalid = next((e.reason for e in judged.estimates if _key(e) in keys and e.reason), None)
    return invalid or "the later run did not measure it"


def _change(earlier: Estimate, later: Estimate, terms: Terms, family: int) -> Change:
    assert earlier.median is not None and later.median is not None  # `usable` has seen to it
    margin = terms.margin_of(later.figure)
    change = Change(
        phase=later.phase,
        contender=later.contender,
        load=later.load,
        figure=later.figure,
        before=earlier.median,
        after=later.median,
        ratio=later.median / earlier.median,
        margin=margin,
    )
    interval: Interval | None = None
    if is_exact(later.figure):
        interval = Interval(change.ratio, change.ratio, change.ratio)
    else:
        each = simultaneous(terms.confidence, family)
        interval = unpaired_ratio_interval(later.repeats or later.values, earlier.repeats or earlier.values, each)
    if interval is not None:
        change.ratio = interval.point
        decide_change(change, interval)
    return change


def decide_change(change: Change, interval: Interval) -> None:
    """Put into a change what its interval says of it, at the change's own margin."""
    change.low, change.high = interval.low, interval.high
    change.outcome, change.worse = read_decision(decide(interval, change.margin), change.figure)
    change.harmless = harmless(interval, change.figure, change.margin)


def harmless(interval: Interval, figure: str, margin: float) -> bool:
    """Whether the figure is certainly not worse by more than the margin."""
    match FIGURES[figure].better:
        case Better.LOWER:
            return interval.high <= 1 + margin
        case Better.HIGHER:
            return interval.low >= 1 / (1 + margin)
        case Better.NEITHER:
            return True


def _family(estimate: Estimate, terms: Terms) -> tuple[str, str | None] | None:
    return None if terms.figures else (estimate.figure, estimate.load)


def comparable(before: Run, after: Run) -> list[str]:
    """Why these two runs do not answer one question, in words; empty if they do. Machines are `differences`."""
    reasons = []
    if before.plan.scenario != after.plan.scenario:
        reasons.append(f"scenario: {before.plan.scenario!r} before, {after.plan.scenario!r} after")
    elif before.plan.scenario_version != after.plan.scenario_version:
        reasons.append(f"scenario version: {before.plan.scenario_version} before, {after.plan.scenario_version} after")
    if before.plan.profile != after.plan.profile:
        reasons.append(f"profile: {before.plan.profile} before, {after.plan.profile} after")
    return reasons


def _key(estimate: Estimate) -> tuple[str, str, str | None, str]:
    return estimate.phase, estimate.contender, estimate.load, estimate.figure


def usable(estimate: Estimate) -> bool:
    """Whether a contender's figure may be set against another's."""
    return estimate.verdict is not Verdict.INVALID and bool(estimate.median) and estimate.contender != "tare"


def read_decision(decision: Decision, figure: str) -> tuple[Outcome, bool]:
    """What a decision means for a figure, and whether it is for the worse."""
    if decision is Decision.WITHIN:
        return Outcome.EQUIVALENT, False
    if decision is Decision.OPEN:
        return Outcome.UNDECIDED, False
    better = FIGURES[figure].better
    risen = decision is Decision.HIGHER
    worse = better is not Better.NEITHER and risen == (better is Better.LOWER)
    return (Outcome.SLOWER if worse else Outcome.FASTER), worse
