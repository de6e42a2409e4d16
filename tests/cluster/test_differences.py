"""What several generators find between contenders is what one finds: planted differences, and none between equals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.network import Machine
from tests.cluster.runs import judged, loads, run_demo, wait_for_nodes
from tests.run.demo import add_stack, demo

pytestmark = pytest.mark.cluster

WAIT = ("            await writer.drain()", "            await asyncio.sleep(0.005)")
SPIN = ("            served += 1", "            served += 1\n            sum(range(30_000))")


def copies(folder: Path) -> Path:
    """The demo's stack, an equal one that comes first and is the baseline, one that waits and one that spins."""
    demo(folder)
    for name in ("equal", "waits", "spins"):
        add_stack(folder, name)
    for name, (before, after) in (("waits", WAIT), ("spins", SPIN)):
        page = folder / name / "server.py"
        assert page.read_text().count(before) == 1
        page.write_text(page.read_text().replace(before, after))
    return folder


def of_samples(row: dict[str, Any]) -> tuple[float, float]:
    """The interval that the samples alone give: kept apart where findings have widened it."""
    if row["sampled_low"] is not None:
        return row["sampled_low"], row["sampled_high"]
    return row["low"], row["high"]


def found(server: Machine, name: str) -> dict[str, dict[str, Any]]:
    """Run the copies; their throughput against the baseline's.

    Three machines on the CPUs of one disturb each other, which the findings say and widen the intervals by: what is
    held here against what was planted are the intervals of the samples.
    """
    copies(server.folder / name)
    done = run_demo(server, name, "--rounds", "3")
    rows = judged(server, name, "throughput")
    for slow in ("waits", "spins"):
        assert of_samples(rows[slow])[1] < 0.8 and rows[slow]["outcome"] in {"slower", "undecided"}, done.stdout
    assert judged(server, name, "cpu_per_request")["spins"]["ratio"] > 1.2
    return rows


def test_planted_differences_are_found_and_none_in_equals_from_two_generators_as_from_one(
    cluster: list[Machine],
) -> None:
    server, _, second, _ = cluster
    both = found(server, "two")
    assert all(len(record["result"]["generators"]) == 2 for record in loads(server, "two"))
    second.leave()
    try:
        wait_for_nodes(server, 2)
        alone = found(server, "one")
    finally:
        second.join("generator", head=server)
        wait_for_nodes(server, 3)
    assert all(len(record["result"]["generators"]) == 1 for record in loads(server, "one"))
    for name in ("waits", "spins"):
        (low, high), (least, most) = of_samples(alone[name]), of_samples(both[name])
        assert low < most and least < high, (name, alone[name], both[name])
    # An interval of 95 % leaves the truth out once in twenty runs: in both of them it does so once in four hundred.
    equals = [both["sound"], alone["sound"]]
    assert any(equal["outcome"] in {"equivalent", "undecided"} for equal in equals), equals
