"""Plans are drawn from a seed, and say who is missing what."""

from __future__ import annotations

from pathlib import Path

from tests.run.demo import add_stack, demo
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.plan.plan import RunRequest, make_plan


def test_the_same_seed_draws_the_same_orders_and_another_seed_others(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    for name in "abcdef":
        add_stack(folder, name)
    found = read_scenario_folder(folder)
    contenders = select_contenders(found, [])
    first, again, other = (make_plan(found, contenders, RunRequest(seed=s, rounds=8), ["load"]) for s in (1, 1, 2))
    assert first.orders == again.orders != other.orders
    assert len({tuple(order) for order in first.orders}) > 1
    assert all(sorted(order) == sorted(c.name for c in contenders) for order in first.orders)


def test_a_contender_without_its_tools_is_planned_as_not_measured(tmp_path: Path) -> None:
    folder = demo(tmp_path / "demo")
    add_stack(folder, "future", version=">=99")
    found = read_scenario_folder(folder)
    plan = make_plan(found, select_contenders(found, []), RunRequest(rounds=1), ["load"])
    reasons = {entry.name: entry.not_measured for entry in plan.contenders}
    assert reasons["sound/plain"] is None
    assert "needs python3 >=99" in str(reasons["future/plain"])
    assert plan.orders == [["sound/plain"]]
