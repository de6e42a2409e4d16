"""Machines that disturb a measurement: other work, quotas, limits, and engines at their ceiling."""

from tests.faults.catalogue.kinds import BIG
from tests.faults.setup import Setup, knobs

MIB = 1 << 20

MACHINES: tuple[Setup, ...] = (
    Setup(
        "cpu-quota",
        "the server's cgroup may use a fifth of a CPU",
        ("cpu-throttled|limit-lifted",),
        planted="machine",
        servers=knobs(quota_us=20000),
        never=("littles-law", "needs-rest"),
    ),
    Setup(
        "quota-elsewhere",
        "somebody moves the server into a cgroup of theirs, which may use a fifth of a CPU",
        ("cpu-throttled",),
        planted="machine",
        machine="quota-elsewhere",
        never=("littles-law", "needs-rest"),
    ),
    Setup(
        "other-work",
        "somebody else burns half of every CPU",
        ("other-processes",),
        planted="machine",
        machine="other-work",
    ),
    Setup(
        "crowded-engine",
        "four processes of somebody else on the engine's CPU, under an open loop",
        ("late-sends|engine-withdraws",),
        planted="machine",
        machine="crowded-engine",
        load={"loop": "open", "rate": 2000.0},
    ),
    Setup(
        "memory-limit",
        "the server's cgroup has 48 MB, and a child of it wants more",
        ("memory-limit-hit",),
        planted="machine",
        servers=knobs(memory_limit=48 * MIB, hog_after=500),
    ),
    Setup(
        "pages-from-disk",
        "every 50th request waits for pages from disk",
        ("major-faults",),
        planted="machine",
        servers=knobs(page_in_every=50),
    ),
    Setup(
        "broken-off",
        "somebody interrupts the engine in the middle of the window",
        ("measurement-interrupted|phase-failed",),
        planted="machine",
        machine="broken-off",
    ),
    Setup(
        "slow-tares",
        "in whole windows somebody else is on the CPUs during the tares only",
        ("above-tare",),
        planted="machine",
        needs_quiet=True,
        machine="crowded-tares",
        load={"whole_windows": True},
    ),
    Setup(
        "drift",
        "the machine gets slower from round to round",
        ("tare-drift",),
        planted="machine",
        needs_quiet=True,
        machine="drift",
        rounds=5,
    ),
    Setup(
        "cpu_without_load",
        "the machine is now quiet and now busy",
        ("tare-noise",),
        planted="machine",
        machine="cpu_without_load",
        rounds=4,
        # In turns what falls on the tares falls on the contenders as well, and cancels.
        least={"tare-noise": "note"},
    ),
    Setup("one-cpu", "server and engine share the only CPU", ("shared-cpus",), planted="machine", machine="one-cpu"),
    Setup(
        "engine-at-its-end",
        "bodies of 200 KB whose check costs the engine more than the server",
        ("generator-saturated",),
        planted="machine",
        needs_quiet=True,
        servers=knobs(body_bytes=200_000),
        load=BIG,
    ),
    Setup(
        "ceiling",
        "one connection: engine and server wait for each other, and the null server does no better",
        ("near-tare",),
        planted="machine",
        needs_quiet=True,
        load={"connections": 1},
        rounds=2,
    ),
)
