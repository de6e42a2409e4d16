"""Servers whose speed changes, and loads that are not what they are said to be."""

from typing import Any

from tests.faults.catalogue.kinds import SQLITE
from tests.faults.setup import Setup, knobs

OPEN = {"loop": "open", "rate": 2000.0}

WHOLE: dict[str, Any] = {"prepare": [{"dependency": "store", "act": "execute", "with": {"sql": "SELECT 1"}}]}
"""What acts on a dependency goes before a whole window: in slices, timeouts are seen between them."""

PEAK = {"peak": {"load": "work"}}
"""The start under load; 20 s in the quick profile."""

TIMES: tuple[Setup, ...] = (
    Setup(
        "hidden-stall",
        "stalls for 2.5 s once, under a whole window; the closed loop waits with it",
        ("stall-in-closed-loop",),
        servers=knobs(work_us=60, stall_ms=2500, stall_first_ms=4000),
        scenario=SQLITE,
        load=WHOLE | {"timeout_s": 5.0, "connections": 4},
        seconds=10.0,
        profile="normal",
    ),
    Setup(
        "regular-stall",
        "stalls for 400 ms in each 5 s, under a whole window",
        ("stall-in-closed-loop",),
        needs_quiet=True,
        servers=knobs(work_us=60, stall_ms=400, stall_every_ms=5000),
        scenario=SQLITE,
        load=WHOLE,
        seconds=10.0,
        profile="normal",
    ),
    Setup(
        "stall-between-slices",
        "stalls for 400 ms in each 2 s, whoever is loaded meanwhile",
        ("stall-in-closed-loop",),
        needs_quiet=True,
        servers=knobs(work_us=60, stall_ms=400, stall_every_ms=2000),
        rounds=2,
    ),
    Setup(
        "short-stalls",
        "stalls for 260 ms in each second",
        ("stall-in-closed-loop",),
        needs_quiet=True,
        servers=knobs(work_us=60, stall_ms=260, stall_every_ms=1000),
    ),
    Setup(
        "stalls-while-crowded",
        "stalls for 100 ms in each second, while others use the generator's CPU",
        ("stall-in-closed-loop",),
        servers=knobs(work_us=60, stall_ms=100, stall_every_ms=1000),
        seconds=4.0,
        machine="busy-engine",
    ),
    Setup(
        "one-slow-connection",
        "one connection of sixteen waits 50 ms for each answer, while the others are served",
        ("connections-wait",),
        servers=knobs(work_us=60, slow_ms=50, slow_beyond=15),
    ),
    Setup(
        "one-slow-connection-of-many",
        "one connection of 64 waits longer for an answer than a slice lasts",
        ("connections-wait",),
        servers=knobs(work_us=60, slow_ms=400, slow_beyond=63),
        load={"connections": 64},
    ),
    Setup(
        "one-slow-worker",
        "one worker of four answers after 300 ms, the others at once",
        ("connections-wait",),
        servers=knobs(work_us=60, workers=4, accept_ms=3, slow_ms=300, slow_worker=1),
        load={"connections": 32},
    ),
    Setup(
        "stall-past-timeout",
        "stalls for 2 s, longer than the timeout",
        ("timeouts", "errors-above-allowance"),
        servers=knobs(stall_ms=2000, stall_first_ms=500),
        seconds=2.5,
    ),
    Setup(
        "still-warming-up",
        "twice as slow for the first 3 s of the window",
        ("warm-up-in-window",),
        servers=knobs(work_us=60, extra_us=150, extra_to_ms=3000),
        seconds=9.0,
    ),
    Setup(
        "slows-down",
        "twice as slow from the fourth second on",
        ("slowdown-in-window",),
        servers=knobs(work_us=60, extra_us=150, extra_from_ms=4000),
        seconds=9.0,
    ),
    Setup(
        "slower-with-every-request",
        "each request takes longer than the one before",
        ("slowdown-in-window|no-steady-state",),
        servers=knobs(growing_ns=10),
        seconds=9.0,
    ),
    Setup(
        "slower-with-every-request-in-turns",
        "two contenders in turns of a quarter second; each request of one takes longer than the one before",
        ("slows-with-work",),
        servers=(*knobs(work_us=60), *knobs(work_us=60, growing_ns=3)),
        rounds=2,
    ),
    Setup(
        "waits-longer-with-every-request",
        "two contenders in turns of a quarter second; one sleeps longer before each answer than before the last",
        ("slows-with-work|slowdown-in-window|still-falling",),
        servers=(*knobs(work_us=60), *knobs(work_us=60, sleep_growing_ns=3)),
        profile="normal",
        rounds=2,
    ),
    Setup(
        "changes-at-the-end",
        "becomes twice as slow shortly before the window's end",
        ("no-steady-state",),
        servers=knobs(work_us=60, extra_us=150, extra_from_ms=12000),
        seconds=14.0,
    ),
    Setup(
        "too-slow-for-the-rate",
        "2,000 requests per second are offered, and 1,000 can be answered",
        ("rate-not-reached",),
        servers=knobs(work_us=1000),
        load=OPEN,
        seconds=2.0,
    ),
    Setup(
        "growing-queue",
        "an open loop offers a tenth more than the server can answer",
        ("queue-grows",),
        servers=knobs(work_us=560),
        load=OPEN,
        seconds=3.0,
    ),
    Setup(
        "thrown-away-queue",
        "an open loop ends with a queue that cannot be worked off within the timeout",
        ("rate-not-reached",),
        servers=knobs(work_us=4000),
        load=OPEN,
        seconds=2.0,
    ),
    Setup(
        "still-compiling",
        "three rounds of one second, in each of which the server is slow at first",
        ("still-rising",),
        servers=knobs(work_us=60, extra_us=150, extra_to_ms=850),
        rounds=3,
    ),
    Setup(
        "falls-from-its-peak",
        "loaded from exec on, it becomes slower after 8 s and stays so",
        ("peak-not-kept",),
        servers=knobs(work_us=60, extra_us=150, extra_from_ms=8000),
        scenario=PEAK,
        phases=("peak",),
    ),
    Setup(
        "peaks-too-late",
        "loaded from exec on, it becomes faster shortly before the end",
        ("peak-not-reached",),
        servers=knobs(work_us=60, extra_us=150, extra_to_ms=17000),
        scenario=PEAK,
        phases=("peak",),
    ),
    Setup(
        "silent-in-the-warm-up",
        "answers nothing from the warm-up on, and the timeout is longer than the window",
        ("nothing-answered", "warm-up-unanswered"),
        servers=knobs(mute_from_ms=100),
        scenario=SQLITE,
        load=WHOLE | {"timeout_s": 30.0},
    ),
    Setup(
        "some-connections-silent",
        "half of the connections are never answered, and the timeout is longer than the window",
        ("warm-up-unanswered",),
        servers=knobs(mute_beyond=8),
        scenario=SQLITE,
        load=WHOLE | {"timeout_s": 30.0},
    ),
    Setup(
        "falls-silent",
        "answers nothing from the middle of the window on, and the timeout is longer than the window",
        ("timeout-beyond-window",),
        servers=knobs(mute_from_ms=2000),
        scenario=SQLITE,
        load=WHOLE | {"timeout_s": 30.0},
    ),
    Setup(
        "compiles-for-minutes",
        "gets faster by half every ten seconds, for longer than the warm-up lasts",
        ("still-warming-up",),
        servers=knobs(work_us=6000, halving_ms=10_000),
    ),
    Setup("too-few-rounds", "measured once", ("too-few-rounds",), planted="manifest"),
    Setup(
        "short-window",
        "a window of two seconds in a profile that is meant for decisions",
        ("window-too-short",),
        planted="manifest",
        profile="normal",
        seconds=2.0,
        rounds=1,
    ),
)
