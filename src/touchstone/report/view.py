"""A run and its judgement, indexed for reading. It looks things up and orders them; it computes no figure."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from touchstone.judge.judgement import Comparison, Crossing, Estimate, Finding, Judgement, Key, Severity, Verdict
from touchstone.judge.why.explain import explain_all
from touchstone.judge.why.explanation import CpuExplanation, Unexplained
from touchstone.judge.why.tail.explain import explain_every_latency
from touchstone.judge.why.tail.explanation import LatencyExplanation
from touchstone.record.load_spec import LoadSpec
from touchstone.record.run import ContenderPlan, Run
from touchstone.record.sample import TARE, Sample
from touchstone.report.causes import FindingCause, FindingGroup, causes_of, grouped
from touchstone.report.words import place_title
from touchstone.vocabulary.figure import FIGURES, Figure
from touchstone.vocabulary.phase import PHASES


@dataclass(frozen=True)
class PhaseAndLoad:
    """Where a figure was measured: a phase, and the load within it."""

    phase: str
    load: str | None = None

    @property
    def opens(self) -> bool:
        """Whether it is building or starting, whose figures share a table."""
        kind = PHASES.get(self.phase)
        return kind is not None and kind.opens and self.load is None


@dataclass(frozen=True)
class PointBudget:
    """How finely lines are drawn, so that the page keeps within its size."""

    points: int = 240
    """Points a line, at most."""
    lines: int = 60
    """Lines a plot, at most; the typical round of each contender is always drawn."""


class View:
    """The reading side of a run."""

    def __init__(self, run: Run, judgement: Judgement) -> None:
        self.run = run
        self.judgement = judgement
        self.plan = run.plan
        self.budget = PointBudget()
        self._samples = {sample.id: sample for sample in run.samples}
        self._estimates = {e.key: e for e in judgement.estimates}

    def within(self, budget: PointBudget) -> View:
        """The same view with plots as fine as the budget allows; cached results are kept."""
        if budget == self.budget:
            return self
        made = copy(self)
        made.budget = budget
        return made

    @cached_property
    def contenders(self) -> list[ContenderPlan]:
        """All contenders of the plan: the baseline first, and each exhibit right after its sound twin."""
        by_name = {c.name: c for c in self.plan.contenders}
        ordered = sorted(self.plan.contenders, key=lambda c: not self.is_baseline(c))
        result = [c for c in ordered if self.twin(c) is None]
        for exhibit in (c for c in ordered if self.twin(c) is not None):
            place = (
                result.index(by_name[self.twin(exhibit) or ""]) if by_name[self.twin(exhibit) or ""] in result else -1
            )
            result.insert(place + 1 if place >= 0 else len(result), exhibit)
        return result

    def twin(self, contender: ContenderPlan) -> str | None:
        """The name of an exhibit's sound twin, if it is part of this run."""
        names = {c.name for c in self.plan.contenders}
        return contender.sound_twin if contender.exhibit and contender.sound_twin in names else None

    def is_baseline(self, contender: ContenderPlan) -> bool:
        """Whether the others are put against this one: as the comparisons say, else as the plan does."""
        return contender.name == self.baseline

    @cached_property
    def baseline(self) -> str | None:
        """The contender that the others are put against. An exhibit is put against its sound twin as well."""
        sound = {c.name for c in self.plan.contenders if not c.exhibit}
        compared = sorted(self.judgement.comparisons, key=lambda c: c.contender not in sound)
        return compared[0].baseline if compared else self.plan.called(self.plan.baseline, sound)

    @cached_property
    def _comparisons(self) -> dict[Key, Comparison]:
        against_baseline = [c for c in self.judgement.comparisons if c.baseline == self.baseline]
        return {c.key: c for c in against_baseline}

    @property
    def measured(self) -> list[ContenderPlan]:
        """Contenders that could be measured."""
        return [c for c in self.contenders if c.not_measured is None]

    @property
    def not_measured(self) -> list[ContenderPlan]:
        """Contenders that could not, each with its reason."""
        return [c for c in self.contenders if c.not_measured is not None]

    def colour(self, contender: str) -> int:
        """The contender's place in the palette: the same in every plot of a report. The tare has none (0)."""
        names = [c.name for c in self.measured]
        return names.index(contender) + 1 if contender in names else 0

    def load_title(self, load: str | None) -> str | None:
        """A load's title as the scenario gives it."""
        if load is None:
            return None
        return self.plan.load_specs.get(load, LoadSpec()).title or load

    def title(self, place: PhaseAndLoad) -> str:
        """The heading of a place."""
        return place_title(place.phase, place.load, self.load_title(place.load))

    @cached_property
    def places(self) -> list[PhaseAndLoad]:
        """Phases and loads with an estimate or sample, in plan order, starts last."""
        seen = {PhaseAndLoad(e.phase, e.load) for e in self.judgement.estimates}
        seen |= {PhaseAndLoad(s.phase, s.load) for s in self.run.samples}
        phases = [*self.plan.phases, *PHASES]
        loads = self.plan.loads

        def order(place: PhaseAndLoad) -> tuple[bool, int, int, str]:
            phase = phases.index(place.phase) if place.phase in phases else len(phases)
            load = -1 if place.load is None else loads.index(place.load) if place.load in loads else len(loads)
            return place.opens, phase, load, f"{place.phase} {place.load}"

        return sorted(seen, key=order)

    def loads(self) -> list[PhaseAndLoad]:
        """The loads that were put on the contenders."""
        return [p for p in self.places if p.phase == "load"]

    def estimate(self, place: PhaseAndLoad, contender: str, figure: str) -> Estimate | None:
        """A contender's figure over the rounds."""
        return self._estimates.get((place.phase, contender, place.load, figure))

    def comparison(self, place: PhaseAndLoad, contender: str, figure: str) -> Comparison | None:
        """A contender's figure against the baseline's; an exhibit's against its twin is among `comparisons`."""
        return self._comparisons.get((place.phase, contender, place.load, figure))

    def comparisons(self, place: PhaseAndLoad) -> list[Comparison]:
        """All comparisons of a place, in the order of figures and contenders.

        An exhibit that has a sound twin is compared with that alone: what the defect does, and nothing else.
        """
        names = [c.name for c in self.contenders]
        found = [c for c in self.judgement.comparisons if (c.phase, c.load) == (place.phase, place.load)]
        twins = {c.name: twin for c in self.contenders if (twin := self.twin(c)) is not None}
        paired = {(c.contender, c.figure) for c in found if twins.get(c.contender) == c.baseline}
        found = [c for c in found if (c.contender, c.figure) not in paired or twins[c.contender] == c.baseline]
        figures = list(FIGURES)
        return sorted(found, key=lambda c: (figures.index(c.figure), _index(names, c.contender)))

    @cached_property
    def crossings(self) -> list[Crossing]:
        """From when on one contender has served more in total than another: those with such a time first.

        An exhibit is put against its sound twin alone.
        """
        twins = {c.name: self.twin(c) for c in self.contenders if c.exhibit}
        found = [
            c
            for c in self.judgement.crossings
            if all(a not in twins or twins[a] == b for a, b in ((c.contender, c.other), (c.other, c.contender)))
        ]
        order = ["overtakes", "undecided", "ahead throughout"]
        return sorted(found, key=lambda c: (order.index(c.outcome), c.median_s or 0.0))

    @cached_property
    def explanations(self) -> list[CpuExplanation | Unexplained]:
        """Why the contenders that were profiled need more or less CPU per request than the baseline."""
        return explain_all(self.run, self.baseline, self.judgement.confidence)

    @cached_property
    def latency_explanations(self) -> list[LatencyExplanation | Unexplained]:
        """Why the contenders whose slow requests were kept have the p99 that they have."""
        return explain_every_latency(self.run, self.baseline, self.judgement.confidence)

    def figures(self, place: PhaseAndLoad, *, headline: bool) -> list[Figure]:
        """The figures that were measured there; only the headline ones if asked."""
        there = {e.figure for e in self.judgement.estimates if (e.phase, e.load) == (place.phase, place.load)}
        return [f for f in FIGURES.values() if f.name in there and (f.headline or not headline)]

    def sample(self, sample_id: str) -> Sample | None:
        """A sample by its id."""
        return self._samples.get(sample_id)

    def samples(self, place: PhaseAndLoad, contender: str | None = None) -> list[Sample]:
        """The samples of a place, in the order of rounds. The tare's are left out unless asked for by name."""
        found = [s for s in self.run.samples if (s.phase, s.load) == (place.phase, place.load)]
        found = [s for s in found if (s.contender == contender if contender else s.contender != TARE)]
        return sorted(found, key=lambda s: (s.round or 0, s.position, s.id))

    def verdict(self, sample: Sample) -> Verdict:
        """The judge's verdict on a sample."""
        return self.judgement.sample_verdicts.get(sample.id, Verdict.VALID)

    def typical(self, place: PhaseAndLoad, contender: str, figure: str) -> Sample | None:
        """The sample whose figure lies nearest to the judge's median: the one to draw boldly."""
        samples = self.samples(place, contender)
        valid = [s for s in samples if self.verdict(s) is not Verdict.INVALID and figure in s.figures]
        estimate = self.estimate(place, contender, figure)
        if estimate is None or estimate.median is None or not valid:
            return samples[0] if samples else None
        middle = estimate.median
        return min(valid, key=lambda s: abs(s.figures[figure] - middle))

    @property
    def why_invalid(self) -> str | None:
        """Why nothing in an invalid run may be quoted; None for any other run."""
        if self.judgement.verdict is not Verdict.INVALID:
            return None
        if any(group.first.severity is Severity.INVALID for group in self.finding_groups):
            return "the findings say why"
        if self.judgement.failed:
            return "no contender was measured to the end"
        return "it was interrupted before anything was measured" if self.run.interrupted else "nothing was measured"

    @cached_property
    def finding_groups(self) -> list[FindingGroup]:
        """Findings, the most severe first. Equal findings on one contender and load are grouped."""
        return grouped(self.judgement.findings)

    @cached_property
    def causes(self) -> list[FindingCause]:
        """Findings by their cause, the one that costs its reader most first."""
        return causes_of(self)

    def findings_at(self, place: PhaseAndLoad, figures: Iterable[str] | None = None) -> list[FindingGroup]:
        """Findings about a place; with `figures`, those only that name one of them."""
        wanted = None if figures is None else set(figures)
        return [g for g in self.finding_groups if self._concerns(g.first, place, wanted)]

    def _concerns(self, finding: Finding, place: PhaseAndLoad, figures: set[str] | None) -> bool:
        sample = self._samples.get(finding.sample or "")
        if sample is not None:
            if (sample.phase, sample.load) != (place.phase, place.load):
                return False
        elif finding.load is not None:
            if finding.load != place.load:
                return False
        elif not any(FIGURES[f].phase == place.phase for f in finding.figures or [] if f in FIGURES):
            return False
        return figures is None or bool(figures & set(finding.figures or []))


def _index(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
