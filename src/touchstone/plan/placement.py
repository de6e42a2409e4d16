"""Assigns CPUs to the contender, the engine and the dependencies."""

from __future__ import annotations

import os
from collections.abc import Sequence

from touchstone.record.process import GeneratorPlace, Placement


def available_cpus() -> tuple[int, ...]:
    """The CPUs that this process may use."""
    return tuple(sorted(os.sched_getaffinity(0)))


def plan_placement(cpus: Sequence[int], *, dependencies: bool, generators: Sequence[GeneratorPlace] = ()) -> Placement:
    """Return CPU sets, which are disjoint if there are enough CPUs.

    Where there are not, what shares is said in words.

    The contender comes first: it is what is measured. From four CPUs on it gets half of them, and engine and
    dependencies a quarter each. Dependencies share the engine's CPUs on a small machine, never the contender's: that
    costs touchstone headroom, which the tare shows, and not the contender's figure, which nothing would show. With
    generators on other machines one CPU is enough for the engine, which leads them and watches the contender.
    """
    count = len(cpus)
    if generators and count > 1:
        return _beside_generators(cpus, dependencies, generators)
    if count == 1:
        everyone = "contender, engine and dependencies" if dependencies else "contender and engine"
        return Placement(
            server_cpus=list(cpus),
            engine_cpus=list(cpus),
            dependency_cpus=list(cpus) if dependencies else [],
            shared=[f"{everyone} share CPU {cpus[0]}: touchstone has only one CPU"],
        )
    if not dependencies:
        half = count // 2
        return Placement(server_cpus=list(cpus[:half]), engine_cpus=list(cpus[half:]))
    if count == 2:
        return Placement(
            server_cpus=[cpus[0]],
            engine_cpus=[cpus[1]],
            dependency_cpus=[cpus[1]],
            shared=[f"engine and dependencies share CPU {cpus[1]}: touchstone has only two CPUs"],
        )
    quarter = max(1, count // 4)
    server = count - 2 * quarter
    return Placement(
        server_cpus=list(cpus[:server]),
        engine_cpus=list(cpus[server : server + quarter]),
        dependency_cpus=list(cpus[server + quarter :]),
    )


def _beside_generators(cpus: Sequence[int], dependencies: bool, generators: Sequence[GeneratorPlace]) -> Placement:
    """Return the placement for a cluster. The engine and Ray get the last CPU, the contender gets the others."""
    count = len(cpus)
    quarter = max(1, count // 4) if dependencies and count > 2 else 0
    shared = (
        f"engine and dependencies share CPU {cpus[-1]}: touchstone has only two CPUs"
        if dependencies and not quarter
        else ""
    )
    return Placement(
        server_cpus=list(cpus[: count - 1 - quarter]),
        engine_cpus=[cpus[-1]],
        dependency_cpus=list(cpus[count - 1 - quarter : count - 1] or cpus[-1:]) if dependencies else [],
        shared=[shared] if shared else [],
        generators=list(generators),
    )
