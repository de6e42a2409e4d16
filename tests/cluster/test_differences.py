"""What several generators find between contenders is what one finds: planted differences, and none between equals."""

from __future__ import annotations

from pathlib import Path

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


def test_planted_differences_are_found_and_none_in_equals_from_two_generators_as_from_one(
    cluster: list[Machine],
) -> None:
    server, _, second, _ = cluster
    copies(server.folder / "two")
    done = run_demo(server, "two", "--rounds", "4")
    both = judged(server, "two", "throughput")
    assert both["waits"]["outcome"] == "slower" and both["spins"]["outcome"] == "slower", done.stdout
    assert both["sound"]["outcome"] in {"equivalent", "undecided"}, both["sound"]
    per_request = judged(server, "two", "cpu_per_request")
    assert per_request["spins"]["ratio"] > 1.2, per_request["spins"]
    assert all(len(record["result"]["generators"]) == 2 for record in loads(server, "two"))
    second.leave()
    try:
        wait_for_nodes(server, 2)
        copies(server.folder / "one")
        run_demo(server, "one", "--rounds", "4")
    finally:
        second.join("generator", head=server)
        wait_for_nodes(server, 3)
    alone = judged(server, "one", "throughput")
    assert all(len(record["result"]["generators"]) == 1 for record in loads(server, "one"))
    for name in ("waits", "spins"):
        assert alone[name]["outcome"] == "slower"
        one, two = alone[name], both[name]
        assert one["low"] < two["high"] * 1.15 and two["low"] < one["high"] * 1.15, (name, one, two)
