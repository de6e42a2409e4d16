"""What a service had its dependencies do for each correct response, by the dependencies' own counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from touchstone.record.sample import DependencyState, Sample
from touchstone.vocabulary.dependency import DEPENDENCIES, WorkCounter

LATE_S = 1.0
"""A session of PostgreSQL hands in its counts so long after the work at most."""


@dataclass(frozen=True)
class WorkCount:
    """One kind of work of one contender under one load, over its rounds."""

    contender: str
    dependency: str
    counter: WorkCounter
    done: float
    ok: int
    sent: int
    seconds: float
    """Seconds of load."""
    late_s: float
    """Seconds at the end of a round's load that a dependency with delayed counters may not have counted yet."""

    @property
    def least(self) -> float:
        """Per request sent: what was sent and not answered correctly may have been worked for."""
        return self.done / max(1, self.sent)

    @property
    def most(self) -> float:
        """Per correct response."""
        return self.done / max(1, self.ok)

    def __float__(self) -> float:
        """Contenders are ordered by `most`."""
        return self.most


def gain(dependency: DependencyState, *counters: str) -> float | None:
    """By how much counters of a dependency have risen in total. None if one of them was not read."""
    total = 0.0
    for name in counters:
        if name not in dependency.before or name not in dependency.after:
            return None
        total += dependency.after[name] - dependency.before[name]
    return total


def work_of(contender: str, samples: Iterable[Sample]) -> Iterator[WorkCount]:
    """Each kind of work that every one of these samples has a count of."""
    measured = [s for s in samples if s.result is not None and s.result.totals.ok]
    if not measured or not measured[0].dependencies:
        return
    ok = sum(s.result.totals.ok for s in measured if s.result)
    sent = sum(s.result.totals.sent + s.asked_in_load for s in measured if s.result)
    loaded = sum(_loaded_s(s) for s in measured)
    late = max(_late_s(s) for s in measured)
    for first in measured[0].dependencies:
        kind = DEPENDENCIES.get(first.kind)
        for counter in kind.work if kind else ():
            states = [d for s in measured for d in s.dependencies if d.name == first.name]
            gains = [g for d in states if (g := gain(d, *counter.counters)) is not None]
            if len(gains) == len(measured):
                yield WorkCount(contender, first.name, counter, sum(gains), ok, sent, loaded, late)


def _loaded_s(sample: Sample) -> float:
    """Return the seconds of load: the contender's slices, or warm-up and window."""
    if sample.slices is not None:
        return sum(one.end - one.begin for one in sample.slices.slices)
    assert sample.result is not None
    return sample.result.window.warmup_s + sample.result.window.measured_s


def _late_s(sample: Sample) -> float:
    """How much of the last second it was loaded: in turns, a part of it."""
    if sample.slices is None or not sample.slices.slices:
        return LATE_S
    begin = max(one.end for one in sample.slices.slices) - LATE_S
    return sum(one.end - max(begin, one.begin) for one in sample.slices.slices if one.end > begin)
