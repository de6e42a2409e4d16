"""How much of the machine others used while loads were measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from touchstone.record.run import Run


@dataclass(frozen=True)
class Disturbance:
    """Shares of the machine's CPU time, as medians over loads; None where nobody looked."""

    loads: int
    others: float | None
    """Used by processes that were neither contender, generator nor dependency."""
    stolen: float | None
    """Taken by the hypervisor."""


def disturbance(runs: Iterable[Run]) -> Disturbance:
    """Over all loads of these runs."""
    others: list[float] = []
    stolen: list[float] = []
    loads = 0
    for run in runs:
        cpus = max(1, run.environment.cpus)
        for sample in run.samples:
            result = sample.result
            if sample.phase != "load" or result is None or not result.window.measured_s:
                continue
            loads += 1
            whole = (result.window.measured_s + result.window.drain_s) * cpus
            if result.machine.other_cpu_s is not None:
                own = sum(state.cpu_s for state in sample.dependencies if state.cpu_s)
                others.append(max(0.0, result.machine.other_cpu_s - own) / whole)
            if result.machine.steal_s is not None:
                stolen.append(result.machine.steal_s / whole)
    return Disturbance(
        loads, statistics.median(others) if others else None, statistics.median(stolen) if stolen else None
    )
