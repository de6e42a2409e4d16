"""What dependencies used of the CPUs while a load was measured."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.record.sample import Sample


@dataclass(frozen=True)
class DependencyUse:
    """CPU of the dependencies that have processes of their own."""

    cpu_s: dict[str, float]
    """By dependency; empty where nobody looked."""
    elapsed_s: float
    """For how long it was counted."""


def dependency_use(sample: Sample) -> DependencyUse:
    """Of the measured window, where the engine read it; of the whole load, warm-up included, where the lab did.

    In slices the lab's reading would be that of all contenders' turns, so it says nothing of one of them.
    """
    result = sample.result
    if result is not None and result.machine.dependencies_cpu_s is not None:
        return DependencyUse(result.machine.dependencies_cpu_s, result.window.watched_s)
    if sample.slices is not None:
        return DependencyUse({}, 0.0)
    used = {state.name: state.cpu_s for state in sample.dependencies if state.cpu_s is not None}
    return DependencyUse(used, result.window.whole_s if result else 0.0)
