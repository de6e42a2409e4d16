"""Checks a gate by its twin: whether the base and its copy differ, and possible causes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pydantic import computed_field

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.judgement import Comparison, Judgement, Severity
from touchstone.judge.reading.laps import LEAST_LAPS, by_lap, effect_of, laps_by_round
from touchstone.judge.statistics.decision import Decision, Interval, decide
from touchstone.judge.statistics.distributions import greatest_chance
from touchstone.record.base import Record
from touchstone.record.run import Run
from touchstone.record.sample import Sample

_CONFIDENCE = 0.95
"""Confidence of the bound on false alarms."""


PROVEN = 0.01
"""The rate of false alarms below which a gate may block: 299 gates without one show it. A project of ten pull requests
a day then meets one in ten days."""


class TwinCount(Record):
    """How many gates on one kind of machine called the base different from its copy."""

    gates: int
    different: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def at_most(self) -> float:
        """The upper 95 % bound of the false alarm rate, as a share."""
        return greatest_chance(self.different, self.gates, _CONFIDENCE)

    @property
    def proven(self) -> bool:
        """Whether enough gates were counted to show a rate of false alarms below `PROVEN`."""
        return self.at_most < PROVEN


class TwinCheck(Record):
    """The twin of a gate: a second copy of the base in the same laps, held to the base as the head is."""

    rounds: int
    """Rounds in which it took part."""
    changes: list[Comparison]
    """The twin against the base, of every figure that was asked about and that slices give."""
    could_explain: list[str] = []
    """If they differ: what the records say of possible reasons, a sentence each."""

    counted: TwinCount | None = None
    """Gates on this kind of machine, this one included; None where they could not be counted."""

    @property
    def different(self) -> list[Comparison]:
        """Figures on which two copies of one program are called better or worse."""
        return [change for change in self.changes if change.decided]


def called_different(ratio: float | None, low: float | None, high: float | None, margin: float) -> bool:
    """Whether an interval of two copies' ratio calls one of them better, at a margin. None is an open end."""
    if ratio is None:
        return False
    interval = Interval(ratio, 0.0 if low is None else low, math.inf if high is None else high)
    return decide(interval, margin) in (Decision.HIGHER, Decision.LOWER)


def check_twin(run: Run, judgement: Judgement, base: str, terms: ComparisonTerms, called: str) -> TwinCheck | None:
    """Hold the twin to the base; None if the run has none.

    Each interval has the confidence of the gate's own. Over all figures, loads and looks a twin is called different by
    chance no more often than 1 - confidence of the gate, as a harmless head is.

    Args:
        run: the record.
        judgement: of that run.
        base: the contender that the twin is a copy of, as the plan names it.
        terms: the figures and margins that are asked about.
        called: the contender's name in tables.

    """
    twin = run.plan.twin
    if twin is None:
        return None
    changes = [
        one.model_copy(update={"contender": called, "baseline": called, "sentence": ""}).decided_by(
            one.interval, terms.margin_of(one.figure)
        )
        for one in judgement.comparisons
        if (one.contender, one.baseline) == (twin, base) and one.figure in terms.figures
    ]
    rounds = {s.round for s in run.samples if s.contender == twin and s.round}
    found = TwinCheck(rounds=len(rounds), changes=changes)
    if found.different:
        found.could_explain = list(_reasons(run, judgement, (base, twin), found.different))
    return found


def _reasons(run: Run, judgement: Judgement, pair: tuple[str, str], different: Sequence[Comparison]) -> Iterator[str]:
    """Possible causes in the records: order, port, layout, first to start, and findings about either."""
    base, twin = pair
    for change in different:
        yield from _rounds_agree(run, pair, change)
    shared = {s.round for s in run.samples if s.contender == twin and s.round}
    first = sum(order.index(base) < order.index(twin) for n, order in enumerate(run.plan.orders, 1) if n in shared)
    if shared:
        yield f"first to start: the base in {first} of {len(shared)} rounds, its twin in the others"
    for load in dict.fromkeys(change.load for change in different if change.load):
        pairs = zip(*(_samples(run, name, load) for name in pair), strict=True)
        before = [first for base_sample, twin_sample in pairs for first in _base_first(base_sample, twin_sample)]
        yield f"order in laps of {load}: the base before its twin in {sum(before)} of {len(before)}"
    yield "port: each process listens on a port of its own, which services that choose threads by hash can notice"
    for finding in judgement.findings:
        if finding.contender in pair and finding.severity is not Severity.NOTE:
            name = "the base" if finding.contender == base else "its twin"
            yield f"{finding.code}, of {name} alone: {finding.statement}"


def _rounds_agree(run: Run, pair: tuple[str, str], change: Comparison) -> Iterator[str]:
    """Whether all rounds differ in one direction. The luck of processes goes both ways."""
    base, twin = (_samples(run, name, change.load or "") for name in pair)
    rounds = laps_by_round(list(zip(twin, base, strict=True)), change.figure)
    effects = [effect_of([lap.ratio for lap in laps]).effect for laps in rounds if len(laps) >= LEAST_LAPS]
    if len(effects) < 2:
        return
    low, high = math.exp(min(effects)), math.exp(max(effects))
    spread = f"{change.figure}: from {low:.3f}x to {high:.3f}x over {len(effects)} rounds"
    if low > 1 or high < 1:
        yield f"{spread}, all on one side: order, port or the machine explain that better than the luck of a process"
    else:
        yield f"layout: {spread}, on both sides of 1, as the luck that a process is born with makes it"


def _samples(run: Run, contender: str, load: str) -> list[Sample]:
    """A contender's samples of a load in the rounds of the twin, in order."""
    own = {s.round: s for s in run.samples if s.contender == contender and s.load == load and s.slices is not None}
    shared = {s.round for s in run.samples if s.contender == run.plan.twin and s.load == load and s.slices is not None}
    return [own[number] for number in sorted(own.keys() & shared, key=lambda number: number or 0)]


def _base_first(base: Sample, twin: Sample) -> list[bool]:
    """By lap that both took part in, whether the base came before its twin."""
    ours, theirs = by_lap(base), by_lap(twin)
    return [ours[lap].begin < theirs[lap].begin for lap in ours.keys() & theirs.keys()]
