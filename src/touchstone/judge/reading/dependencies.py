"""CPU that dependencies used during a load, and what they did around single requests after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from touchstone.judge.reading.work import work_of
from touchstone.record.sample import AfterAnswers, DependencyState, Sample

LEAST_ASKED = 6
"""Single requests that had a dependency do something: of fewer nothing is said."""
_USED = 0.01
"""Work at a dependency for each response, from which on the load itself uses it."""


@dataclass(frozen=True)
class DependencyUse:
    """CPU of the dependencies that have processes of their own."""

    cpu_s: dict[str, float]
    """By dependency; empty where nobody looked."""
    elapsed_s: float
    """For how long it was counted."""


def dependency_use(sample: Sample) -> DependencyUse:
    """A dependency's CPU in the measured window (from the engine) or whole load (from Python).

    In slices touchstone's reading would be that of all contenders' turns, so it says nothing of one of them.
    """
    result = sample.result
    if result is not None and result.machine.dependencies_cpu_s is not None:
        return DependencyUse(result.machine.dependencies_cpu_s, result.window.watched_s)
    if sample.slices is not None:
        return DependencyUse({}, 0.0)
    used = {state.name: state.cpu_s for state in sample.dependencies if state.cpu_s is not None}
    return DependencyUse(used, result.window.whole_s if result else 0.0)


def is_used(sample: Sample, dependency: DependencyState) -> bool:
    """Whether the load itself uses the dependency: the contract's requests inside a load open sessions, too."""
    if dependency.sessions_peak == 0:
        return False
    counted = [work.most for work in work_of(sample.contender, [sample]) if work.dependency == dependency.name]
    return not counted or max(counted) >= _USED


def stated_delay_s(dependency: DependencyState) -> float | None:
    """How long a downstream waits before it answers: as it reports it, else as asked for; None if nobody says."""
    stated = dependency.asked | dependency.settings
    for name, scale in (("delay_s", 1.0), ("delay_ms", 1e-3), ("delay-ms", 1e-3)):
        if isinstance(stated.get(name), int | float):
            return float(stated[name]) * scale
    return None


def as_a_rule(dependency: DependencyState, what: Literal["behind", "late"]) -> AfterAnswers | None:
    """What was seen around single requests, if this was so for half of them or more. None if not, or of too few."""
    seen = dependency.after_answers
    if seen is None or seen.asked < LEAST_ASKED:
        return None
    times = seen.behind if what == "behind" else seen.late
    return seen if 2 * times >= seen.asked else None
