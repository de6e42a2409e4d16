"""The grammar: what goes wrong, for whom, when, how much of it; and what may vary in a sound service."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any, Literal

ERRORS = "errors-above-allowance"
BEFORE = "warm-up-failed"
"""One worker that breaks its connections is invisible in the window: they end up at the other workers."""
SILENT = ("timeouts", "requests-unanswered", "warm-up-unanswered", "nothing-answered", "timeout-beyond-window", ERRORS)
LEAKED_MEMORY = "memory left behind"
ONE_WORKER = 4
"""The knob `fault_whom` for a fault that only one of several worker processes has."""
LEAST, MOST = 0.0002, 0.3
"""The shares of responses that a fault touches, drawn evenly over their logarithm."""


@dataclass(frozen=True)
class What:
    """One thing that a server does wrong."""

    group: str
    """The class that the table counts it in."""
    number: int
    """The knob `fault` of the C server (server.h)."""
    caught_by: tuple[str, ...]


WHATS: tuple[What, ...] = (
    What("status", 1, ("wrong-statuses", ERRORS)),
    What("body", 2, ("wrong-bodies", ERRORS)),
    What("body", 3, ("wrong-bodies", ERRORS)),
    What("header", 4, (ERRORS,)),
    What("framing", 5, ("connections-broken", "wrong-bodies", BEFORE, ERRORS)),
    What("framing", 6, ("connections-broken", "wrong-bodies", BEFORE, ERRORS)),
    What("framing", 7, ("connections-broken", BEFORE, ERRORS)),
    What("silence", 8, SILENT),
    What("delay beyond the timeout", 9, SILENT),
    What("close without an answer", 10, ("connections-broken", ERRORS)),
    What("close without an answer", 11, ("connections-broken", ERRORS)),
    What("descriptor left open", 13, ("descriptors-grow",)),
    What("thread left behind", 14, ("threads-grow",)),
    What(LEAKED_MEMORY, 15, ("memory-grows",)),
)
LEAKS = (13, 14, 15)
STALL, WORK, WARM_UP = "stall", "work skipped", "only in the warm-up"
CPU, MEMORY = "CPU used", "memory held"
CAUGHT_BY: dict[str, tuple[str, ...]] = {
    **{what.group: what.caught_by for what in WHATS},
    STALL: ("stall-in-closed-loop",),
    WORK: ("less-work",),
    WARM_UP: (BEFORE,),
}
"""By class: the findings that name it. One that names another cause does not count as caught."""
COMPARED = {CPU: "cpu_per_request", MEMORY: "rss_peak"}
"""By class: the figure that the comparison with a contender that does not have it must call worse."""
HELD_BYTES = 40 << 20
"""What every contender of a batch of resources holds."""
MOST_THREADS = 0.02
"""Largest share of requests that leave a thread behind: a machine of many contenders bears no more."""


@dataclass(frozen=True)
class Draw:
    """One contender: a fault of some size, or a sound variation."""

    group: str
    knobs: dict[str, int]
    size: float = 0.0
    """A stall's share of time, or skipped work's share of requests; the servers count the others."""
    truth: int = 0
    """The number of the counts' file; 0 if there is none."""


@dataclass(frozen=True)
class Batch:
    """Contenders that are measured in one run, since they share a load."""

    id: str
    draws: tuple[Draw, ...]
    sound: bool
    program: Literal["server", "service"] = "server"
    load: dict[str, Any] = field(default_factory=dict)
    rounds: int | None = 1
    """None for the profile's, where a comparison is what must tell."""


def share(dice: random.Random) -> float:
    """A size, evenly over its logarithm."""
    return math.exp(dice.uniform(math.log(LEAST), math.log(MOST)))


def fault(dice: random.Random, number: int) -> Draw:
    """What, for whom, when."""
    if dice.random() < 1 / 8:
        return stall(dice)
    what, size = dice.choice(WHATS), share(dice)
    if what.number == 14:
        size = min(size, MOST_THREADS)
    whom = dice.choice((0, 1, 2, 3, 4))
    knobs = {
        "fault": what.number,
        "fault_ppm": round(1e6 * size),
        "fault_whom": whom,
        "truth": number,
        "work_us": dice.choice((0, 20, 60)),
    }
    if whom == ONE_WORKER:
        knobs["workers"] = dice.choice((2, 3))
    match dice.choice(("always", "from", "bursts", "warm-up")):
        case "from":
            knobs["fault_from_ms"] = dice.randint(200, 2500)
        case "warm-up" if what.number not in LEAKS:
            # With eight contenders in turn, the second turn ends after some 2.5 s, and the warm-up has six or more.
            return Draw(WARM_UP, knobs | {"fault_to_ms": dice.choice((240, 2500, 5000))}, size, number)
        case "bursts":
            knobs |= {"burst_ms": dice.choice((100, 300)), "burst_every_ms": 1000}
    return Draw(what.group, knobs, size, number)


def resource(dice: random.Random, number: int) -> Draw:
    """CPU or memory that a contender uses beyond the others; of CPU the size is by the server's own count."""
    size = math.exp(dice.uniform(math.log(0.01), math.log(1.0)))
    if dice.random() < 0.5:
        return Draw(MEMORY, {"work_us": 60, "memory_bytes": round(HELD_BYTES * (1 + size))}, size)
    touched = dice.choice((0.01, 0.1, 1.0))
    # A request costs the server some 20 us of system calls beyond the work.
    burn = {"fault": 16, "fault_ppm": round(1e6 * touched), "burn_us": max(1, round(80 * size / touched))}
    return Draw(CPU, {"work_us": 60, "memory_bytes": HELD_BYTES, "truth": number} | burn, size, number)


def stall(dice: random.Random) -> Draw:
    """All responses wait, now and then; its size is the share of time."""
    size, length = math.exp(dice.uniform(math.log(0.005), math.log(MOST))), dice.choice((60, 120, 250, 400, 800))
    return Draw(STALL, {"stall_ms": length, "stall_every_ms": round(length / size), "work_us": 60}, size)


def skipped(dice: random.Random) -> Draw:
    """A service that leaves out the downstream for exactly one request in `every`."""
    every = max(3, round(1 / share(dice)))
    return Draw(WORK, {"skip_every": every}, 1 / every)


def variation(dice: random.Random) -> dict[str, int]:
    """What may differ between sound services."""
    knobs = {"work_us": dice.choice((0, 20, 60, 150))}
    for name, values, chance in (
        ("chunked", (1,), 0.3),
        ("fields_first", (1,), 0.5),
        ("date", (1,), 0.5),
        ("header_bytes", (64, 512), 0.3),
        ("say_close_every", (400, 1000, 5000), 0.2),
        ("start_ms", (200, 1000, 1500), 0.2),
        ("workers", (2,), 0.15),
        ("delay_ms", (2, 10), 0.1),
    ):
        if dice.random() < chance:
            knobs[name] = dice.choice(values)
    if dice.random() < 0.4:
        pause = dice.randint(5, 30)
        knobs |= {"stall_ms": pause, "stall_every_ms": dice.randint(10 * pause, 60 * pause)}
    return knobs


def _expecting(expect: dict[str, Any], **request: Any) -> dict[str, Any]:
    return {"requests": [{"name": "work", "target": "/work?n={counter}", "expect": expect, **request}]}


WHOLE_ANSWER = _expecting({"body": "done {counter}", "content_type": "text/plain"})
"""What faults are held against: status, type and body of every answer."""

SOUND_LOADS: tuple[tuple[dict[str, Any], dict[str, int]], ...] = (
    ({}, {}),
    ({}, {}),
    (_expecting({"pattern": r"done \d+\.*"}), {"vary": 1}),
    (_expecting({"pattern": r"done \d+\.*"}), {"body_bytes": 700}),
    (_expecting({"status": 304}), {"status_from": 1, "status": 304}),
    (_expecting({"status": 204}), {"status_from": 1, "status": 204}),
    (_expecting({"status": 302, "body": "no", "headers": {"location": "/ping"}}), {"status_from": 1, "status": 302}),
    (_expecting({"pattern": r"\x1f\x8b(.|\n)*done [0-9]+(.|\n)*", "encoding": "bytes"}), {"gzip": 1}),
    (_expecting({"status": 200}, method="HEAD"), {}),
)
"""Loads that sound services may be put under, each with what all contenders then do alike."""


def batches(draws: int, sound: bool, seed: int, size: int = 8) -> list[Batch]:
    """Draws in batches of contenders that are measured together; the same for the same seed."""
    dice = random.Random(f"{seed}-{'sound' if sound else 'fault'}")
    found: list[Batch] = []
    while draws > 0:
        count, number = min(size, draws), len(found)
        first = 1 + seed * 100_000 + number * size
        if sound:
            load, alike = dice.choice(SOUND_LOADS)
            made = [Draw("sound", variation(dice) | alike) for _ in range(count)]
            found.append(Batch(f"sound-{seed}-{number}", tuple(made), True, load=load))
        elif number % 10 == 9:
            # Most do the whole work, so that a contender that skips some stands out.
            skipping = (count - 1) // 2
            made = [*[Draw("sound", {})] * (count - skipping), *(skipped(dice) for _ in range(skipping))]
            found.append(Batch(f"work-{seed}-{number}", tuple(made), False, program="service"))
        elif number % 10 == 4:
            plain = Draw("sound", {"work_us": 60, "memory_bytes": HELD_BYTES})
            made = [plain, *(resource(dice, first + place) for place in range(1, count))]
            found.append(Batch(f"resource-{seed}-{number}", tuple(made), False, load=WHOLE_ANSWER, rounds=None))
        else:
            made = [fault(dice, first + place) for place in range(count)]
            found.append(Batch(f"fault-{seed}-{number}", tuple(made), False, load=WHOLE_ANSWER))
        draws -= count
    return found
