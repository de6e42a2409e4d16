"""What contenders did while others had the machine: in slices all of them run, and all but one should rest."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.record.evidence.slices import Slice
from touchstone.record.run import Run
from touchstone.record.sample import Sample


@dataclass(frozen=True)
class Rest:
    """CPU of one contender under one load of one round, in seconds of CPU."""

    at_work: float
    """In its own slices."""
    at_rest: float
    """In the slices of all others."""
    rested_s: float
    """How long the others' slices were together."""

    @property
    def put_off(self) -> float:
        """The CPU used while it should rest, as a share of what it used for its requests."""
        return self.at_rest / self.at_work if self.at_work > 0 else 0.0


def rest_of(sample: Sample, run: Run) -> Rest | None:
    """How a contender rested; None where nothing was sliced or nobody watched its process."""
    own = sample.slices
    if own is None or sample.contender not in own.order:
        return None
    place = own.order.index(sample.contender)
    at_work = sum(one.server_cpu_s or 0.0 for one in _measured(sample))
    at_rest = rested_s = 0.0
    for other in _beside(sample, run):
        for one in _measured(other):
            used = one.others_cpu_s[place] if one.others_cpu_s and place < len(one.others_cpu_s) else None
            if used is not None:
                at_rest += used
                rested_s += one.end - one.begin
    return Rest(at_work, at_rest, rested_s) if at_work > 0 and rested_s > 0 else None


def neighbours_cpu(sample: Sample) -> dict[str, float]:
    """By contender, the CPU in seconds that it used within this one's slices, the greatest first."""
    if sample.slices is None:
        return {}
    used: dict[str, float] = {}
    for one in _measured(sample):
        for name, seconds in zip(sample.slices.order, one.others_cpu_s or [], strict=False):
            if seconds:
                used[name] = used.get(name, 0.0) + seconds
    return dict(sorted(used.items(), key=lambda item: -item[1]))


def sliced_s(sample: Sample) -> float:
    """How long a contender's measured slices were together, in seconds."""
    return sum(one.end - one.begin for one in _measured(sample))


def _measured(sample: Sample) -> list[Slice]:
    return [one for one in sample.slices.slices if one.lap is not None] if sample.slices else []


def _beside(sample: Sample, run: Run) -> list[Sample]:
    return [
        other
        for other in run.samples
        if other.slices is not None
        and (other.phase, other.load, other.round) == (sample.phase, sample.load, sample.round)
        and other.contender != sample.contender
    ]
