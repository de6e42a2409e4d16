"""The case before the judge: a run, arranged in the ways in which the rules look at it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from touchstone.judge.judgement import PeakReached, SteadyState
from touchstone.judge.reading.core import Slopes, core_slopes
from touchstone.judge.reading.pace import level_points
from touchstone.judge.reading.peak import PEAK_FIGURES, peak_figures, peak_of
from touchstone.judge.reading.rest import workers_of
from touchstone.judge.reading.traffic import loop
from touchstone.judge.statistics.steady import steady_state
from touchstone.record.run import ContenderPlan, Run
from touchstone.record.sample import TARE, Sample


@dataclass(frozen=True)
class SampleGroup:
    """A contender's samples of one phase and one load, in the order of rounds."""

    phase: str
    contender: str
    load: str | None
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Case:
    """A run with the margin (a share) and the confidence at which it is judged."""

    run: Run
    margin: float
    confidence: float

    @cached_property
    def groups(self) -> list[SampleGroup]:
        """Return all groups, including the null server's, in the order in which they were measured."""
        found: dict[tuple[str, str, str | None], list[Sample]] = defaultdict(list)
        for sample in self.run.samples:
            found[sample.phase, sample.contender, sample.load].append(sample)
        return [
            SampleGroup(phase, contender, load, tuple(sorted(samples, key=lambda s: s.round or 0)))
            for (phase, contender, load), samples in found.items()
        ]

    def groups_of(self, phase: str, load: str | None = None) -> Iterator[SampleGroup]:
        """The contenders' groups of a phase, without tares; those of one load, if it is given."""
        return (g for g in self.groups if g.phase == phase and g.contender != TARE and load in (None, g.load))

    @cached_property
    def loads(self) -> list[str]:
        """The loads that were measured, in order."""
        return list(dict.fromkeys(s.load for s in self.run.samples if s.phase == "load" and s.load))

    def tares(self, load: str | None) -> list[Sample]:
        """Return the null server's samples of a load, in order. None means those of the phase `peak`."""
        return self._tares.get(load, [])

    @cached_property
    def _tares(self) -> dict[str | None, list[Sample]]:
        found: dict[str | None, list[Sample]] = {}
        for sample in self.run.samples:
            if sample.contender == TARE and sample.result is not None and sample.failure is None:
                found.setdefault(sample.load, []).append(sample)
        return found

    def ceiling(self, load: str | None) -> float | None:
        """Return the null server's median rate under a load; None if it was not measured."""
        rates = [t.result.rate.achieved for t in self.tares(load) if t.result]
        return statistics.median(rates) if rates else None

    @cached_property
    def workers(self) -> dict[str, dict[str, float]]:
        """Contenders that work for another one, by sample id, with the CPU seconds that each used."""
        return {s.id: workers_of(s, self.run) for s in self.run.samples if s.slices is not None}

    @cached_property
    def core_slopes(self) -> Slopes:
        """Return how much each contender's rate falls on a slower core."""
        return core_slopes(self.run)

    @cached_property
    def steady(self) -> list[SteadyState]:
        """The steady-state verdict on each load of a contender."""
        return [
            steady_state(
                level_points(s, self.run, self.core_slopes),
                contender=s.contender,
                load=s.load or "",
                sample=s.id,
                margin=self.margin,
                by_rate=loop(s) == "closed",
            )
            for s in self.run.samples
            if s.phase == "load" and s.contender != TARE and s.result is not None and loop(s) in ("closed", "open")
        ]

    @cached_property
    def peaks(self) -> dict[str, PeakReached]:
        """The peak of each start under load, by sample."""
        found = {s.id: peak_of(s, self.margin) for s in self.run.samples if s.contender != TARE}
        return {sample: peak for sample, peak in found.items() if peak is not None}

    def figures(self, sample: Sample) -> dict[str, float]:
        """A sample's figures, with those that are read out of its evidence with the margin."""
        peak = self.peaks.get(sample.id)
        return sample.figures | (peak_figures(peak) if peak else {})

    def figure_names(self, group: SampleGroup) -> list[str]:
        """The figures of a group in the order of the record. A peak's also where no round has reached one."""
        names = dict.fromkeys(name for sample in group.samples for name in self.figures(sample))
        if any(sample.id in self.peaks for sample in group.samples):
            names |= dict.fromkeys(PEAK_FIGURES)
        return list(names)

    @property
    def tared(self) -> list[str | None]:
        """What has tares of its own: the loads that were measured, and None for the start under load."""
        return [*self.loads, *([None] if next(self.groups_of("peak"), None) else [])]

    def steady_of(self, group: SampleGroup) -> list[SteadyState]:
        """The steady-state verdicts on a group's samples."""
        ids = {s.id for s in group.samples}
        return [s for s in self.steady if s.sample in ids]

    def shaped(self, group: SampleGroup, shape: str) -> tuple[list[SteadyState], int]:
        """The rounds whose series has a shape, and of how many. None if it is not more than half of them.

        A round that was too short to tell is one without it: the clock cuts the laps of some.
        """
        rounds = self.steady_of(group)
        hits = [s for s in rounds if s.shape == shape]
        return hits if len(hits) > len(rounds) / 2 else [], len(rounds)

    def contender(self, name: str) -> ContenderPlan | None:
        """The plan's entry for a contender."""
        return next((c for c in self.run.plan.contenders if c.name == name), None)
