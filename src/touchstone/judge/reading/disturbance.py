"""The share of the machine that other processes used during loads."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.judge.reading.dependencies import dependency_use
from touchstone.record.evidence.capacity import CapacityTrial
from touchstone.record.run import Run
from touchstone.record.sample import Sample


@dataclass(frozen=True)
class Disturbance:
    """Shares of the machine's CPU time, as medians over loads; None where nobody looked."""

    loads: int
    others: float | None
    """Used by processes that were neither contender, generator nor dependency."""
    stolen: float | None
    """Taken by the hypervisor."""


def others_share(sample: Sample, cpus: int) -> float | None:
    """The machine share that others used during a load. Slightly negative if below what is measurable.

    The CPU of dependencies is taken off where the engine counted it with that of other processes. None where nobody
    looked, or nothing was loaded.
    """
    result = sample.result
    other = result.machine.other_cpu_s if result else None
    if result is None or other is None or not result.window.measured_s:
        return None
    if result.machine.dependencies_cpu_s is None:
        other -= sum(dependency_use(sample).cpu_s.values())
    return other / (result.window.watched_s * max(1, cpus))


def stolen_share(sample: Sample, cpus: int) -> float | None:
    """The share of the CPUs that the hypervisor took during a load. None where nobody looked, or nothing was loaded."""
    result = sample.result
    if result is None or result.machine.steal_s is None or not result.window.measured_s:
        return None
    return result.machine.steal_s / (result.window.watched_s * max(1, cpus))


def taken_in_failed_trials(sample: Sample, cpus: int) -> tuple[float, float] | None:
    """The shares of the machine that others and the host had in a search: of its trials that failed, the middle one.

    Void trials have not failed. None where nothing failed, or nobody looked.
    """
    if sample.capacity is None:
        return None
    failed = [t for t in sample.capacity.trials if t.held is False and t.other_cpus is not None]
    taken = sorted((others + stolen, others, stolen) for others, stolen in map(_taken, failed))
    if not taken:
        return None
    _, others, stolen = taken[len(taken) // 2]
    return others / max(1, cpus), stolen / max(1, cpus)


def _taken(trial: CapacityTrial) -> tuple[float, float]:
    return trial.other_cpus or 0.0, trial.stolen_cpus or 0.0


def disturbance(runs: Iterable[Run]) -> Disturbance:
    """Over all loads of these runs."""
    others: list[float] = []
    stolen: list[float] = []
    loads = 0
    for run in runs:
        cpus = run.environment.cpus
        for sample in run.samples:
            result = sample.result
            if sample.phase != "load" or result is None or not result.window.measured_s:
                continue
            loads += 1
            if (used := others_share(sample, cpus)) is not None:
                others.append(max(0.0, used))
            if (taken := stolen_share(sample, cpus)) is not None:
                stolen.append(taken)
    return Disturbance(
        loads, statistics.median(others) if others else None, statistics.median(stolen) if stolen else None
    )
