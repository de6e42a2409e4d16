"""The runs before the judge of claims, and what they say of one term."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from touchstone.judge.claims.quantities import QUANTITIES, Quantity
from touchstone.judge.claims.warmth import coldness
from touchstone.judge.comparison.across import differences
from touchstone.judge.comparison.possible_bias import PossibleBiases, combine, mean, over_rounds
from touchstone.judge.comparison.verdict import WeighedFindings
from touchstone.judge.figures import is_exact
from touchstone.judge.judgement import Estimate, Finding, Judgement, Severity, Verdict
from touchstone.judge.statistics.decision import Interval
from touchstone.judge.statistics.intervals import MIN_ROUNDS, median_interval
from touchstone.record.run import Run
from touchstone.record.sample import Sample

MAY_HAVE_MOVED = "what else used the machine may have moved it"
"""Why a figure is suspect whose doubts have no bound, no known direction, or nothing that they could widen."""


@dataclass(frozen=True)
class Measurand:
    """What is asked for: a contender's quantity under a load, in a scenario."""

    scenario: str
    contender: str
    load: str | None
    figure: str

    @property
    def quantity(self) -> Quantity:
        """The meaning of the figure."""
        return QUANTITIES[self.figure]

    @property
    def phase(self) -> str:
        """Where it is measured."""
        return self.quantity.phase


@dataclass(frozen=True)
class RunWithJudgement:
    """A run with its judgement."""

    run: Run
    judgement: Judgement


@dataclass
class Reading:
    """What a run says of a place: the values by round, and whether they can be trusted."""

    place: Measurand
    runs: list[str]
    samples: list[str] = field(default_factory=list)
    """`run/sample`"""
    values: list[float] = field(default_factory=list)
    by_round: dict[int, float] = field(default_factory=dict)
    suspect: str | None = None
    cold: str | None = None
    """Why it was measured while a contender warmed up; such a reading decides nothing, whatever is let."""
    climbs: bool = False
    """Cold memory that climbed to the end of the load, in every round: warm it would be no less. The doubts say so."""
    doubts: PossibleBiases = field(default_factory=PossibleBiases)
    """By how much, at the most, what was found can have moved it; the interval is widened by that."""
    sliced: bool = False
    """Measured in slices, next to those of the other contenders of the same run."""
    exact: bool = False
    once: bool = False
    """Measured once a run and not in rounds."""

    @property
    def point(self) -> float:
        """The median."""
        return statistics.median(self.values)

    def interval(self, confidence: float) -> Interval | None:
        """Around the median. A single point where it was counted, or where every round said the same."""
        enough = len(self.values) >= MIN_ROUNDS
        if self.exact or (enough and min(self.values) == max(self.values)):
            return Interval(self.point, self.point, self.point)
        return median_interval(self.values, confidence)


@dataclass(frozen=True)
class MissingReading:
    """Why there is no reading."""

    reason: str


class Evidence:
    """Judged runs, the newest first. Which of several runs counts is never chosen by its result."""

    def __init__(self, judged: Sequence[RunWithJudgement], admits: Sequence[str] = ()) -> None:
        self.judged = sorted(judged, key=lambda j: j.run.started_at, reverse=True)
        self._admits = set(admits)

    def admitting(self, codes: Sequence[str]) -> Evidence:
        """The same runs, with samples that only these findings disqualify let in."""
        return Evidence(self.judged, codes)

    def together(self, places: Sequence[Measurand]) -> list[Reading] | MissingReading:
        """Readings of all places: from the newest run that has them all validly, else from the newest that has them
        all, else each from its own run if the machine is the same.
        """
        whole: list[list[Reading]] = []
        for judged in self.judged:
            readings = [self._in_run(place, judged) for place in places]
            if all(isinstance(r, Reading) for r in readings):
                whole.append([r for r in readings if isinstance(r, Reading)])
        sound = [readings for readings in whole if not any(r.suspect or r.cold for r in readings)]
        for chosen in (sound, whole):
            if chosen:
                return [self._pooled(r) for r in chosen[0]]
        return self._apart(places)

    def _apart(self, places: Sequence[Measurand]) -> list[Reading] | MissingReading:
        """Each place from its own run, where the machines are the same."""
        readings = []
        for place in places:
            found = self.one(place)
            if isinstance(found, MissingReading):
                return found
            readings.append(found)
        machines = [j.run.environment for j in self.judged if any(j.run.plan.run_id in r.runs for r in readings)]
        unlike = [text for machine in machines[1:] for text in differences(machines[0], machine)]
        if unlike:
            return MissingReading(f"measured in runs that cannot be put together: {unlike[0]}")
        return readings

    def one(self, place: Measurand) -> Reading | MissingReading:
        """The reading of one place: from the newest run that has it validly, else from the newest that has it."""
        reasons = []
        found: list[Reading] = []
        for judged in self.judged:
            reading = self._in_run(place, judged)
            if isinstance(reading, Reading):
                found.append(reading)
            else:
                reasons.append(reading)
        for reading in [r for r in found if not (r.suspect or r.cold)] or found:
            return self._pooled(reading)
        reasons_given = [r for r in reasons if r.reason]
        return reasons_given[0] if reasons_given else MissingReading(f"no run has {describe(place)}")

    def _pooled(self, reading: Reading) -> Reading:
        """With what other runs on the same machine say, if it is measured once a run: several runs give an interval."""
        if not reading.once or reading.exact:
            return reading
        first = next(j for j in self.judged if j.run.plan.run_id in reading.runs)
        seen: dict[object, tuple[str, str, float, PossibleBiases]] = {}
        for judged in self.judged:
            other = self._in_run(reading.place, judged)
            if not isinstance(other, Reading) or differences(first.run.environment, judged.run.environment):
                continue
            if other.suspect and not reading.suspect:
                continue
            for name, value in zip(other.samples, other.values, strict=True):
                sample = next(s for s in judged.run.samples if name.endswith(f"/{s.id}"))
                # A build taken from the cache repeats the figures of the build that made it.
                once = sample.build.measured_at if sample.build and sample.build.measured_at else sample.started_at
                seen.setdefault(once, (judged.run.plan.run_id, name, value, other.doubts))
        runs, reading.samples, reading.values, doubts = (list(column) for column in zip(*seen.values(), strict=True))
        reading.runs = list(dict.fromkeys(runs))
        reading.doubts = mean(doubts)
        return reading

    def _in_run(self, place: Measurand, judged: RunWithJudgement) -> Reading | MissingReading:
        plan = judged.run.plan
        if plan.scenario != place.scenario:
            return MissingReading("")
        contender = next((c for c in plan.contenders if c.name == place.contender), None)
        if contender is None:
            return MissingReading("")
        if contender.not_measured:
            return MissingReading(f"{place.contender}: {contender.not_measured}")
        samples = [
            s
            for s in judged.run.samples
            if (s.phase, s.contender) == (place.phase, place.contender) and (place.load is None or s.load == place.load)
        ]
        if not samples:
            return MissingReading("")
        return self._reading(place, judged, samples)

    def _reading(self, place: Measurand, judged: RunWithJudgement, samples: list[Sample]) -> Reading | MissingReading:
        run_id = judged.run.plan.run_id
        base = place.quantity.rests_on or place.figure
        estimate = next(
            (
                e
                for e in judged.judgement.estimates
                if (e.phase, e.contender, e.figure) == (place.phase, place.contender, base)
                and (place.load is None or e.load == place.load)
            ),
            None,
        )
        kept, refused = self._kept(samples, estimate, judged.judgement, base)
        reading = Reading(place, [run_id], exact=is_exact(place.figure))
        for sample in kept:
            value = place.quantity.read(sample)
            if value is not None:
                reading.samples.append(f"{run_id}/{sample.id}")
                reading.values.append(value)
                reading.by_round[sample.round or 0] = value
        if not reading.values:
            return MissingReading(refused or self._why_absent(place, samples))
        reading.once = set(reading.by_round) == {0}
        admitted_all = estimate is None or estimate.verdict is Verdict.INVALID
        cold = (coldness(s, place.figure, judged.judgement) for s in kept)
        reading.cold = next((reason for reason in cold if reason), None)
        reading.sliced = all(sample.slices is not None for sample in kept)
        if estimate is not None:
            weights = [self._weight(sample, base, judged.judgement) for sample in kept]
            reading.suspect, reading.doubts = _weighed(estimate, weights, place.quantity)
        if reading.suspect is None and refused and not admitted_all:
            reading.suspect = refused
        moved_as = place.quantity.moved_as
        if reading.cold and moved_as and self._grows(kept[0], moved_as, judged.judgement):
            reading.climbs, reading.doubts = True, replace(reading.doubts, slower=math.inf)
        return reading

    def _kept(
        self, samples: list[Sample], estimate: Estimate | None, judgement: Judgement, figure: str
    ) -> tuple[list[Sample], str | None]:
        """The samples that count, and why others do not. What a claim admits counts although it is invalid."""
        kept, refused = [], None
        wide_refusal = None
        if estimate is not None and estimate.verdict is Verdict.INVALID and not estimate.left_out:
            wide_refusal = estimate.reason
        for sample in samples:
            against = [
                f
                for f in judgement.findings
                if f.severity is Severity.INVALID and self._bears(f, sample, figure) and f.code not in self._admits
            ]
            if against:
                blamed = estimate is not None and estimate.verdict is Verdict.INVALID and estimate.reason
                refused = blamed or against[0].statement
            elif wide_refusal and not self._admits:
                refused = wide_refusal
            else:
                kept.append(sample)
        return kept, refused

    def _weight(self, sample: Sample, figure: str, judgement: Judgement) -> WeighedFindings:
        """What bears on a sample's figure, but for what is admitted."""
        return WeighedFindings(
            [f for f in judgement.findings if self._bears(f, sample, figure) and f.code not in self._admits], figure
        )

    def _grows(self, sample: Sample, figure: str, judgement: Judgement) -> bool:
        """Whether a memory figure's memory grew until the end of the load in every round."""
        return any(f.code == "memory-grows" and self._bears(f, sample, figure) for f in judgement.findings)

    @staticmethod
    def _bears(finding: Finding, sample: Sample, figure: str) -> bool:
        if finding.figures is not None and figure not in finding.figures:
            return False
        if finding.sample is not None:
            return finding.sample == sample.id
        return finding.contender in (None, sample.contender) and finding.load in (None, sample.load)

    @staticmethod
    def _why_absent(place: Measurand, samples: list[Sample]) -> str:
        for sample in samples:
            for name in (place.figure, place.quantity.rests_on):
                if name in sample.not_measured:
                    return f"{place.contender}: {sample.not_measured[name]}"
            if sample.failure is not None:
                return f"{place.contender}: {sample.failure.what}"
        return f"the samples of {describe(place)} do not hold it"


def describe(place: Measurand) -> str:
    """A place in words."""
    load = f" under the load {place.load}" if place.load else ""
    return f"{place.quantity.title.lower()} of {place.contender}{load} ({place.scenario})"


def _weighed(
    estimate: Estimate, weights: Sequence[WeighedFindings], quantity: Quantity
) -> tuple[str | None, PossibleBiases]:
    """Why an estimate is suspect, and the doubts by which its interval is widened.

    A published statement is about somebody's work: a doubt without a bound on either side, or of a quantity whose
    direction is unknown, does not let it decide. What is admitted is in no weight; what makes an estimate suspect is
    then what is left.
    """
    suspect = None
    if estimate.verdict is Verdict.SUSPECT:
        suspect = next((weight.reason for weight in weights if weight.reason), None)
    doubts = over_rounds([combine(weight.doubts, estimate.figure) for weight in weights], estimate.figure)
    if doubts == PossibleBiases() or estimate.verdict is Verdict.INVALID:
        return suspect, PossibleBiases()
    endless = math.isinf(doubts.faster_in_all) and math.isinf(doubts.slower)
    if endless or quantity.moved_as is None:
        return suspect or MAY_HAVE_MOVED, PossibleBiases()
    return suspect, doubts
