"""CPU sets are disjoint where there are enough CPUs, and what shares is said."""

from __future__ import annotations

import pytest

from touchstone.plan.placement import plan_placement


@pytest.mark.parametrize("count", [2, 3, 4, 6, 8, 64])
@pytest.mark.parametrize("dependencies", [False, True])
def test_the_contender_shares_with_nobody_from_two_cpus_on(count: int, dependencies: bool) -> None:
    placement = plan_placement(range(count), dependencies=dependencies)
    assert placement.server_cpus
    assert placement.engine_cpus
    assert not set(placement.server_cpus) & {*placement.engine_cpus, *placement.dependency_cpus}
    assert bool(placement.dependency_cpus) == dependencies


@pytest.mark.parametrize("dependencies", [False, True])
def test_sharing_is_said(dependencies: bool) -> None:
    assert "share CPU 5" in plan_placement([5], dependencies=dependencies).shared[0]
    assert bool(plan_placement([0, 1], dependencies=dependencies).shared) == dependencies
    assert not plan_placement(range(3), dependencies=dependencies).shared
