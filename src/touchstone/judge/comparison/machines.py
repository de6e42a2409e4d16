"""Compares two runs of different machines, as far as possible.

Exact counts and sizes do not know the machine. A ratio to a reference contender is taken within each run, so that how
fast the machine is cancels; what remains of the machine in it (caches, cores) stays, and is said. Absolute times, rates
and memory are not compared.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from touchstone.judge.comparison.across import ComparisonTerms, changes, usable
from touchstone.judge.comparison.pair import NotCompared
from touchstone.judge.figures import is_exact
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Judgement, Key, Verdict
from touchstone.judge.statistics.decision import Interval
from touchstone.judge.statistics.intervals import ratio_of, simultaneous
from touchstone.record.run import Run


@dataclass(frozen=True)
class AcrossMachines:
    """The result of comparing two runs of different machines."""

    reference: str | None
    """The contender to which ratios were taken in each run; None if the runs have none in common."""
    changes: list[Comparison]
    left_out: list[NotCompared]


def common_reference(before: Run, after: Run, asked: str | None) -> str | None:
    """The contender that both runs have by this name; their baseline if none is asked for. None if there is none."""
    sound = {contender.name for contender in before.plan.contenders if not contender.exhibit}
    both = sound & {contender.name for contender in after.plan.contenders}
    return before.plan.called(asked or before.plan.baseline, both)


def across_machines(before: Run, after: Run, terms: ComparisonTerms, reference: str | None) -> AcrossMachines:
    """Compare what can be compared.

    Args:
        before: the earlier run.
        after: the later run, of another machine.
        terms: what is asked, with which margins.
        reference: a contender of both runs.

    """
    family = len(terms.figures) * max(1, len(terms.loads or after.plan.loads)) if terms.figures else 1
    confidence = simultaneous(terms.confidence, family)
    old, new = (judge(run.against(reference), confidence=confidence) for run in (before, after))
    exact = [change for change in changes(old, new, terms) if is_exact(change.figure)]
    ratios = _ratios(old, new, terms, reference) if reference else []
    return AcrossMachines(reference, exact + ratios, _left_out(old, new, terms, exact + ratios, reference))


def _ratios(old: Judgement, new: Judgement, terms: ComparisonTerms, reference: str) -> list[Comparison]:
    before, after = _to_reference(old, terms, reference), _to_reference(new, terms, reference)
    return [_compared(before[key], after[key], terms) for key in after if key in before]


def _to_reference(judgement: Judgement, terms: ComparisonTerms, reference: str) -> dict[Key, Comparison]:
    asked = {e.key for e in judgement.estimates if terms.ask(e)}
    return {
        c.key: c
        for c in judgement.comparisons
        if c.baseline == reference
        and c.ratio
        and c.verdict is not Verdict.INVALID
        and not is_exact(c.figure)
        and c.key in asked
    }


def _compared(earlier: Comparison, later: Comparison, terms: ComparisonTerms) -> Comparison:
    assert earlier.ratio is not None and later.ratio is not None  # `_to_reference` has seen to it
    compared = Comparison(
        phase=later.phase,
        contender=later.contender,
        baseline=later.contender,
        load=later.load,
        figure=later.figure,
        before=earlier.ratio,
        after=later.ratio,
        relative_to=later.baseline,
        ratio=later.ratio / earlier.ratio,
    )
    return compared.decided_by(_quotient(earlier, later), terms.margin_of(later.figure))


def _quotient(earlier: Comparison, later: Comparison) -> Interval | None:
    """The interval of later/earlier from those of both, which are independent (MOVER, Zou and Donner 2008)."""
    bounds = (earlier.ratio, earlier.low, earlier.high, later.ratio, later.low, later.high)
    if any(bound is None or not 0 < bound < math.inf for bound in bounds):
        return None
    mid_1, low_1, high_1, mid_2, low_2, high_2 = (math.log(bound) for bound in bounds if bound is not None)
    middle = mid_2 - mid_1
    low = middle - math.hypot(mid_2 - low_2, high_1 - mid_1)
    high = middle + math.hypot(high_2 - mid_2, mid_1 - low_1)
    return Interval(ratio_of(middle), ratio_of(low), ratio_of(high))


def _left_out(
    old: Judgement, new: Judgement, terms: ComparisonTerms, compared: list[Comparison], reference: str | None
) -> list[NotCompared]:
    known = {change.key for change in compared}
    both = {e.key for e in old.estimates if usable(e)}
    asked = [e for e in new.estimates if usable(e) and terms.ask(e) and e.key in both and e.key not in known]
    counts = Counter(estimate.contender for estimate in asked)
    return [NotCompared(contender=name, figures=count, reason=_why(name, reference)) for name, count in counts.items()]


def _why(contender: str, reference: str | None) -> str:
    if reference is None:
        return "absolute figures of another machine, and the runs have no reference contender in common"
    if contender == reference:
        return "absolute figures of another machine; it is the reference itself"
    return f"absolute figures of another machine, without a ratio to {reference}"
