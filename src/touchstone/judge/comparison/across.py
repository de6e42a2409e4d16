"""Two runs side by side: the same contender's figures before and after, and whether a change is real."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Comparison, Estimate, Judgement, Verdict
from touchstone.judge.statistics.decision import Interval
from touchstone.judge.statistics.intervals import simultaneous, unpaired_ratio_interval
from touchstone.record.base import Record
from touchstone.record.run import Environment, Run

_SAME = ("cpu_model", "cpus", "memory", "kernel", "engine_sha256")
"""Facts of the machine that must agree before figures of two runs may be set against each other."""


class MissingFigure(Record):
    """A figure that is valid in the earlier run and missing in the later one."""

    contender: str
    load: str | None
    figures: list[str]
    reason: str


@dataclass(frozen=True)
class ComparisonTerms:
    """The terms on which two runs are compared."""

    margin: float
    """The least change that matters, as a share."""
    confidence: float
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """The figures asked about, each with a margin of its own or None; all if it is empty."""
    loads: tuple[str, ...] = ()
    """The loads asked about; all if it is empty."""

    def ask(self, estimate: Estimate) -> bool:
        """Whether the figure is one of the requested ones."""
        return (not self.figures or estimate.figure in self.figures) and (
            not self.loads or estimate.load in self.loads or estimate.load is None
        )

    def margin_of(self, figure: str) -> float:
        """Return the smallest change of a figure that matters."""
        own = self.figures.get(figure)
        return self.margin if own is None else own


def differences(before: Environment, after: Environment) -> list[str]:
    """Return reasons why two runs cannot be compared. Empty if they can."""
    return [
        f"{name}: {getattr(before, name)!r} before, {getattr(after, name)!r} after"
        for name in _SAME
        if getattr(before, name) != getattr(after, name)
    ]


def changes(before: Judgement, after: Judgement, terms: ComparisonTerms) -> list[Comparison]:
    """Every figure that is valid in both runs, as an unpaired ratio. Rounds of two runs are independent.

    A family is one figure under one load, over all contenders; where figures were asked for by name, all of them
    together are one family. Intervals are Bonferroni's, simultaneous within the family: the interval that is shown is
    the one that decides.
    """
    old = {e.key: e for e in before.estimates if usable(e) and terms.ask(e)}
    pairs = [(old[e.key], e) for e in after.estimates if usable(e) and e.key in old]
    families = Counter(_family(e, terms) for _, e in pairs if not is_exact(e.figure))
    return [_compared(b, a, terms, families[_family(a, terms)]) for b, a in pairs]


def missing_figures(
    before: Run, after: Run, judged: tuple[Judgement, Judgement], terms: ComparisonTerms
) -> list[MissingFigure]:
    """Return figures that are valid in the earlier run and missing in the later one.

    All figures of a contender that failed in any round of the later run alone: those that it has are of its good days.
    """
    old, new = judged
    newly_failed = {f.contender for f in new.failed} - {f.contender for f in old.failed}
    kept = {e.key for e in new.estimates if usable(e)}
    missing: dict[tuple[str, str | None], list[Estimate]] = {}
    for estimate in old.estimates:
        lost = estimate.key not in kept or estimate.contender in newly_failed
        if lost and usable(estimate) and terms.ask(estimate):
            missing.setdefault((estimate.contender, estimate.load), []).append(estimate)
    exhibits = {c.name for c in before.plan.contenders if c.exhibit}
    return [
        MissingFigure(
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
    keys = {e.key for e in lost}
    invalid = next((e.reason for e in judged.estimates if e.key in keys and e.reason), None)
    return invalid or "the later run did not measure it"


def _compared(earlier: Estimate, later: Estimate, terms: ComparisonTerms, family: int) -> Comparison:
    assert earlier.median is not None and later.median is not None  # `usable` has seen to it
    compared = Comparison(
        phase=later.phase,
        contender=later.contender,
        baseline=later.contender,
        load=later.load,
        figure=later.figure,
        before=earlier.median,
        after=later.median,
        ratio=(ratio := later.median / earlier.median),
    )
    interval: Interval | None = Interval(ratio, ratio, ratio)
    if not is_exact(later.figure):
        each = simultaneous(terms.confidence, family)
        interval = unpaired_ratio_interval(later.repeats or later.values, earlier.repeats or earlier.values, each)
    return compared.decided_by(interval, terms.margin_of(later.figure))


def _family(estimate: Estimate, terms: ComparisonTerms) -> tuple[str, str | None] | None:
    return None if terms.figures else (estimate.figure, estimate.load)


def comparable(before: Run, after: Run) -> list[str]:
    """Return reasons why two runs did not measure the same. Machines are compared by `differences`."""
    reasons = []
    if before.plan.scenario != after.plan.scenario:
        reasons.append(f"scenario: {before.plan.scenario!r} before, {after.plan.scenario!r} after")
    elif before.plan.scenario_version != after.plan.scenario_version:
        reasons.append(f"scenario version: {before.plan.scenario_version} before, {after.plan.scenario_version} after")
    if before.plan.profile != after.plan.profile:
        reasons.append(f"profile: {before.plan.profile} before, {after.plan.profile} after")
    return reasons


def usable(estimate: Estimate) -> bool:
    """Whether a contender's figure may be compared with another's."""
    return estimate.verdict is not Verdict.INVALID and bool(estimate.median) and estimate.contender != "tare"
