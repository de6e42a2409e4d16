"""CPU that nobody of the run used, lap by lap: was there more of it whenever one contender was on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from touchstone.judge.reading.neighbours import neighbours
from touchstone.judge.reading.traffic import loop
from touchstone.judge.statistics.distributions import at_least
from touchstone.record.evidence.slices import IDLE_CPUS, Slice
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

_FULL = 0.25
"""With fewer CPUs than that idle, other processes took all that there was to have."""
_FOR_ALL = 0.5
"""A process that has at least such a share of its CPU while the others are on works by itself, and for none of them."""

_ALIKE = 1.5
"""A neighbour leaves other processes about as much where the contender leaves at most this many times as much."""
_LEAST_CPUS = 0.05
"""The least difference that matters, of a CPU. A listed process has a clock of its own, so that of it, 5 % of what the
contender uses count, and no less than idle processes use."""
_LEAST_LEFT = 0.05
"""CPUs that are never all used: a smaller rest is not measured well enough to divide by."""
RARE = 1e-3
"""A smaller probability is not chance: at this p not one sound contender in a thousand is named."""


@dataclass(frozen=True)
class OutsideHelper:
    """CPU used outside a contender's tree during its slices, beyond that during others' slices."""

    cpus: float
    """CPUs, the median over laps."""
    own_cpus: float
    """What its own tree used meanwhile."""
    laps: int
    more: int
    """In how many of the laps it was more."""
    chance: float
    """How probable this many would be if it came and went by itself (sign test)."""
    least: float = _LEAST_CPUS
    """CPUs below which it does not matter."""
    who: str = ""
    """The kernel's name of the processes that used most of it; empty where no name stands out."""


@dataclass(frozen=True)
class _SliceUse:
    """One slice: CPUs on average over it, and requests per second."""

    other: float
    """Used by processes that are not part of the run."""
    own: float
    """CPU of the contender's tree."""
    rest: float
    """CPU of the engine and the dependencies."""
    used: float
    """CPU of the contender, the engine and the dependencies together."""
    idle: float
    rate: float


@dataclass(frozen=True)
class _ListedProcess:
    """A process that the engine listed: CPUs within the contender's slice, and within the others' on average."""

    name: str = ""
    own: float = 0.0
    around: Mapping[str, float] = field(default_factory=dict)
    """By the other contender."""

    @property
    def usual(self) -> float:
        return statistics.mean(self.around.values()) if self.around else 0.0

    @property
    def beyond(self) -> float:
        return self.own - self.usual


@dataclass(frozen=True)
class _LapUse:
    own: _SliceUse
    others: Mapping[str, _SliceUse]
    processes: Mapping[int, _ListedProcess]
    """By pid."""


def outside_helper_of(samples: Sequence[Sample], run: Run) -> OutsideHelper | None:
    """The helper of one contender under one load, over all rounds; None if unknown.

    Three things are taken off, since they come with a contender and are not processes that work for it. The kernel
    works for requests, and where it counts that apart it is in nobody's time: as much of it as the others' requests
    had, at this one's rate. A service with dependencies has more of it than a null server, so it needs a neighbour.
    Other processes take what a contender leaves over: all of it where no CPU was idle, otherwise no more than they had
    from the others. And a process that works all the time gets more of a CPU from one than from another.

    In an open loop the kernel's ticks may keep step with the requests.
    """
    laps = [lap for sample in samples if loop(sample) == "closed" for lap in _laps(sample, run)]
    names = {name for lap in laps for name in lap.others}
    if not laps or (names <= {TARE} and any(sample.dependencies for sample in samples)):
        return None
    own = _middle([lap.own for lap in laps])
    others = [_middle([lap.others[name] for lap in laps if name in lap.others]) for name in sorted(names)]
    usual = _mean(others, "other")
    kernels = max(0.0, _kernels(own, others) - usual)
    most_left = math.inf if own.idle < _FULL else usual
    busy = _busy(laps)
    beyond = [
        lap.own.other
        - _mean(lap.others.values(), "other")
        - kernels
        - min(max(0.0, _mean(lap.others.values(), "used") - lap.own.used), most_left)
        - sum(max(0.0, one.beyond) for pid, one in lap.processes.items() if pid in busy)
        for lap in laps
    ]
    counted = [value for value in beyond if value]
    more = sum(value > 0 for value in counted)
    chance = at_least(more, len(counted), 0.5)
    cpus = statistics.median(beyond) - _unseen(samples)
    found = OutsideHelper(cpus, own.own, len(laps), more, chance, who=_who(laps, busy, cpus))
    return max(
        [found, *_helpers(laps, own, samples, run.environment.cpus)],
        key=lambda one: one.cpus / one.least * (one.chance < RARE),
    )


def _helpers(laps: Sequence[_LapUse], own: _SliceUse, samples: Sequence[Sample], cpus: int) -> Iterator[OutsideHelper]:
    """Processes that work more for this contender than for neighbours that leave them as much CPU.

    Where no CPU is idle, other processes take whatever a contender leaves over, so that sums show nothing. One that
    takes what is left would take it from a neighbour as well, in proportion to what the neighbour leaves.
    """
    # By number, since others may have a helper's name; by name, since each round may start another.
    who: set[int | str] = {key for lap in laps for pid, one in lap.processes.items() for key in (pid, one.name)}
    sizes = _sizes(samples[0], cpus)
    alike = {
        name: times
        for name in {name for lap in laps for name in lap.others}
        if (times := _leaves(own, _middle([lap.others[name] for lap in laps if name in lap.others]), sizes)) <= _ALIKE
        # The kernel writes to disk for a service with a file, and not for the null server.
        and not (name == TARE and any(sample.dependencies for sample in samples))
    }
    for key in sorted(who, key=str) if alike else ():
        by_lap = [[one for pid, one in lap.processes.items() if key in (pid, one.name)] for lap in laps]
        here = [sum(one.own for one in found) for found in by_lap]
        around = [
            [times * sum(one.around.get(other, 0.0) for one in found) for found in by_lap]
            for other, times in alike.items()
        ]
        busy, usual = statistics.median(here), max(statistics.median(used) for used in around)
        if busy <= 0 or usual >= _FOR_ALL * busy:
            continue
        name = next(one.name for found in by_lap for one in found)
        most = [max(used) for used in zip(*around, strict=True)]
        differ = [(one, other) for one, other in zip(here, most, strict=True) if one != other]
        more = sum(one > other for one, other in differ)
        chance = min(1.0, len(who) * at_least(more, len(differ), 0.5))
        least = min(_LEAST_CPUS, max(IDLE_CPUS, _LEAST_CPUS * own.own))
        yield OutsideHelper(busy - usual, own.own, len(laps), more, chance, least, name)


def _leaves(own: _SliceUse, neighbour: _SliceUse, sizes: tuple[int, int, int]) -> float:
    """CPU that a contender leaves others, over that of a neighbour; never below 1.

    Where the server has CPUs of its own, a process may keep to those, to the others, or to neither.
    """
    server, rest, every = sizes
    left = [
        (server - own.own, server - neighbour.own),
        (rest - own.rest, rest - neighbour.rest),
        (every - own.used, every - neighbour.used),
    ]
    return max(1.0, *(max(here, _LEAST_LEFT) / max(there, _LEAST_LEFT) for here, there in left))


def _sizes(sample: Sample, cpus: int) -> tuple[int, int, int]:
    """Numbers of CPUs of the server, of the rest of touchstone, and of both."""
    place = sample.process.placement
    server, rest = set(place.server_cpus), {*place.engine_cpus, *place.dependency_cpus}
    return (len(server) or cpus, len(rest) or cpus, len(server | rest) or cpus)


def _busy(laps: Sequence[_LapUse]) -> set[int]:
    """The processes that work all the time, by pid."""
    found = set()
    for pid in {pid for lap in laps for pid in lap.processes}:
        seen = [lap.processes.get(pid, _ListedProcess()) for lap in laps]
        own = statistics.median(one.own for one in seen)
        if own > 0 and statistics.median(one.usual for one in seen) >= _FOR_ALL * own:
            found.add(pid)
    return found


def _who(laps: Sequence[_LapUse], busy: set[int], cpus: float) -> str:
    """The name that stands for more than half of it."""
    beyond: list[dict[str, float]] = []
    for lap in laps:
        by_name: dict[str, float] = {}
        for pid, one in lap.processes.items():
            by_name[one.name] = by_name.get(one.name, 0.0) + (0.0 if pid in busy else one.beyond)
        beyond.append(by_name)
    names = {name for by_name in beyond for name in by_name}
    used = {name: statistics.median(by_name.get(name, 0.0) for by_name in beyond) for name in names}
    first = max(used, key=lambda name: used[name], default="")
    return first if used.get(first, 0.0) > cpus / 2 else ""


def _kernels(own: _SliceUse, others: Sequence[_SliceUse]) -> float:
    """CPUs that the kernel may use for requests without attribution, plus constant use by other processes."""
    usual = min(own.other, *(turn.other for turn in others))
    return max(usual + (turn.other - usual) * max(1.0, own.rate / turn.rate) for turn in others if turn.rate > 0)


def _laps(sample: Sample, run: Run) -> Iterator[_LapUse]:
    """The laps of a sample, each with what was seen within the others' slices of it."""
    cpus = run.environment.cpus
    own = _slices(sample)
    around = [(other.contender, _slices(other)) for other in neighbours(sample, run)]
    for lap, one in own.items():
        others = {name: slices[lap] for name, slices in around if lap in slices}
        turns = {name: turn for name, other in others.items() if (turn := _turn(other, cpus)) is not None}
        turn = _turn(one, cpus)
        if turn is not None and turns:
            yield _LapUse(turn, turns, _processes(one, {name: others[name] for name in turns}))


def _processes(own: Slice, others: Mapping[str, Slice]) -> dict[int, _ListedProcess]:
    names = {process.pid: process.name for one in (own, *others.values()) for process in one.other_processes}
    here, around = _used(own), {contender: _used(other) for contender, other in others.items()}
    return {
        pid: _ListedProcess(
            name, here.get(pid, 0.0), {contender: one.get(pid, 0.0) for contender, one in around.items()}
        )
        for pid, name in names.items()
    }


def _used(one: Slice) -> dict[int, float]:
    """CPUs of each process that the engine listed, by pid."""
    return {process.pid: process.cpu_s / (one.end - one.begin) for process in one.other_processes}


def _slices(sample: Sample) -> dict[int, Slice]:
    """By lap. None of a contender whose processes nobody watches: their CPU is counted with that of other processes."""
    slices = sample.slices.slices if sample.slices else []
    if any(one.server_cpu_s is None for one in slices):
        return {}
    return {one.lap: one for one in slices if one.lap is not None and one.end > one.begin}


def _turn(one: Slice, cpus: int) -> _SliceUse | None:
    seconds = one.end - one.begin
    if one.other_cpu_s is None or not one.completed:
        return None
    own = one.server_cpu_s or 0.0
    used = own + (one.engine_cpu_s or 0.0) + sum((one.dependencies_cpu_s or {}).values())
    taken = one.other_cpu_s + (one.steal_s or 0.0) + sum(part or 0.0 for part in one.others_cpu_s or [])
    return _SliceUse(
        other=one.other_cpu_s / seconds,
        own=own / seconds,
        rest=(used - own) / seconds,
        used=used / seconds,
        idle=cpus - (used + taken) / seconds,
        rate=one.completed / seconds,
    )


def _middle(turns: Sequence[_SliceUse]) -> _SliceUse:
    return _SliceUse(
        **{one.name: statistics.median(getattr(turn, one.name) for turn in turns) for one in fields(_SliceUse)}
    )


def _mean(turns: Iterable[_SliceUse], what: str) -> float:
    return float(statistics.mean(getattr(turn, what) for turn in turns))


def _unseen(samples: Sequence[Sample]) -> float:
    """CPUs of processes that came and went between two looks at the tree: only its cgroup has counted them."""
    missed = loaded_s = 0.0
    for sample in samples:
        window = sample.result.watch.window if sample.result and sample.result.watch else None
        if window is not None and window.cgroup_cpu_s is not None and window.cpu_s is not None and sample.slices:
            missed += max(0.0, window.cgroup_cpu_s - window.cpu_s)
            loaded_s += sum(one.end - one.begin for one in sample.counted_slices)
    return missed / loaded_s if loaded_s else 0.0
