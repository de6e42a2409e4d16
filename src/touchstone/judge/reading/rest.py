"""What contenders did while others had the machine: in slices all of them run, and all but one should rest."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.reading.traffic import loop, slots
from touchstone.record.evidence.slices import IDLE_CPUS
from touchstone.record.run import Run
from touchstone.record.sample import Sample

LEAST_SLICES = 4
"""With fewer slices nothing is concluded about whose work was done in them."""
NEARLY_ALL = 0.8
"""The share of a contender's slices in which somebody who works for it does so. What a neighbour has put off falls into
the slices that follow its own: into half of them at the most, by the order of the laps."""
LEAST_SHARE = 0.05
"""Share of its own CPU below which a neighbour's work does not matter."""
TIMES = 4
"""A neighbour that works for a contender uses this many times the CPU of the quietest of the others' slices: four parts
in five."""


@dataclass(frozen=True)
class RestCpu:
    """CPU of one contender under one load of one round, in seconds of CPU."""

    at_work: float
    """In its own slices."""
    at_rest: float
    """In the slices of all others, but of those that have it do their work."""
    rested_s: float
    """How long these slices were together."""

    @property
    def put_off(self) -> float:
        """CPU used while idle, as a share of the CPU used for its requests."""
        return self.at_rest / self.at_work if self.at_work > 0 else 0.0

    @property
    def is_idle(self) -> bool:
        """Whether timers and idle threads explain the CPU used. The share then only shows how long it rested."""
        return self.at_rest < IDLE_CPUS * self.rested_s


def rest_of(sample: Sample, run: Run, workers: Mapping[str, Mapping[str, float]]) -> RestCpu | None:
    """How a contender rested; None where nothing was sliced or nobody watched its process.

    Args:
        sample: the contender's.
        run: the record.
        workers: by sample, the result of `workers_of`.

    """
    own = sample.slices
    if own is None or sample.contender not in own.order:
        return None
    at_work = own_cpu(sample)
    at_rest = rested_s = 0.0
    for other in neighbours(sample, run):
        if sample.contender in workers[other.id]:
            continue
        for used, seconds in _used_by(sample.contender, other):
            at_rest += used
            rested_s += seconds
    return RestCpu(at_work, at_rest, rested_s) if at_work > 0 and rested_s > 0 else None


@dataclass(frozen=True)
class RestDisk:
    """Waits for a disk of one contender under one load of one round, in seconds."""

    at_work: float
    """In its own slices."""
    at_rest: float
    """In the slices of all others."""
    sliced_s: float
    """How long its own slices were together."""


def disk_of(sample: Sample, run: Run) -> RestDisk | None:
    """How long a contender waited for a disk, with and without load. None where nothing was sliced."""
    own = sample.slices
    length = sliced_s(sample)
    if own is None or sample.contender not in own.order or not length:
        return None
    place = own.order.index(sample.contender)
    at_rest = sum(_disk_waits(other, place) for other in neighbours(sample, run))
    return RestDisk(_disk_waits(sample, place), at_rest, length)


def _disk_waits(sample: Sample, place: int) -> float:
    """Seconds for which the contender at this place waited for a disk in a sample's slices."""
    return sum(one.disk_waits_s[place] for one in sample.counted_slices if place < len(one.disk_waits_s))


def first_generation_extra(sample: Sample) -> float | None:
    """Extra seconds of the first responses after a rest: the median over closed-loop slices.

    None if unknown. A generation is as many responses as requests can be under way at once.
    """
    if loop(sample) != "closed" or sample.result is None:
        return None
    places = slots(sample)
    extra = [
        one.generations.first_s - places * one.generations.seconds / one.generations.responses
        for one in sample.counted_slices
        if one.generations is not None and one.generations.first_s is not None and one.generations.responses
    ]
    return statistics.median(extra) if len(extra) >= LEAST_SLICES else None


def own_cpu(sample: Sample) -> float:
    """The CPU in seconds that a contender used in its own slices."""
    return sum(one.server_cpu_s or 0.0 for one in sample.counted_slices)


def neighbours_cpu(sample: Sample) -> dict[str, float]:
    """By contender, the CPU in seconds that it used within this one's slices, the greatest first."""
    if sample.slices is None:
        return {}
    found = {name: sum(used for used, _ in _used_by(name, sample)) for name in sample.slices.order}
    return dict(sorted(((name, used) for name, used in found.items() if used), key=lambda item: -item[1]))


def workers_of(sample: Sample, run: Run) -> dict[str, float]:
    """Contenders that work only while this one is loaded, with the CPU seconds used then.

    The other contenders' slices, and the null server's, are the control: what a neighbour does for itself falls into
    all of them.
    """
    found = {}
    for name, used in neighbours_cpu(sample).items():
        if used <= LEAST_SHARE * own_cpu(sample):
            continue
        here = [cpu / seconds for cpu, seconds in _used_by(name, sample)]
        elsewhere = [
            statistics.fmean(cpu / seconds for cpu, seconds in there)
            for other in neighbours(sample, run)
            if other.contender != name and len(there := list(_used_by(name, other))) >= LEAST_SLICES
        ]
        if len(here) < LEAST_SLICES or not elsewhere:
            continue
        working = sum(cpus >= IDLE_CPUS for cpus in here)
        if working >= NEARLY_ALL * len(here) and statistics.fmean(here) >= TIMES * min(elsewhere):
            found[name] = used
    return found


def sliced_s(sample: Sample) -> float:
    """How long a contender's measured slices were together, in seconds."""
    return sum(one.end - one.begin for one in sample.counted_slices)


def _used_by(name: str, sample: Sample) -> Iterator[tuple[float, float]]:
    """CPU that a contender used in each slice of another, and the slice's length, in seconds."""
    if sample.slices is None or name not in sample.slices.order:
        return
    place = sample.slices.order.index(name)
    for one in sample.counted_slices:
        used = one.others_cpu_s[place] if one.others_cpu_s and place < len(one.others_cpu_s) else None
        if used is not None and one.end > one.begin:
            yield used, one.end - one.begin
