"""A neighbour that wanders: takes a CPU for a while, at times in bursts, and rests. For calibration under noise.

`python -m benchmarks.calibration.hog --seconds N [--share S]` ends by itself. `hog()` is the same as a context.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LONGEST_S = 2.0
_SLOT_S = 0.01
_BURST_S, _EVERY_S = 0.08, 0.5


def wander(seconds: float, share: float, seed: int) -> None:
    """Use about `share` of one CPU, in stretches of up to two seconds with a share and a CPU drawn for each."""
    dice = random.Random(seed)
    cpus = sorted(os.sched_getaffinity(0))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        os.sched_setaffinity(0, {dice.choice(cpus)})
        stretch = time.monotonic() + dice.uniform(0.1, _LONGEST_S)
        now = min(1.0, 2 * share * dice.random())
        while time.monotonic() < min(stretch, until):
            end = time.monotonic() + _SLOT_S * now
            while time.monotonic() < end:
                pass
            time.sleep(_SLOT_S * (1 - now))


def burst(seconds: float) -> None:
    """Use the first CPU for a while twice a second, at the same moments as every other process that does."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    until = time.monotonic() + seconds
    while (now := time.monotonic()) < until:
        if now % _EVERY_S > _BURST_S:
            time.sleep(_EVERY_S - now % _EVERY_S)


@contextmanager
def bursts(seconds: float, count: int) -> Iterator[None]:
    """Run processes that take the first CPU at the same moments, and end them by their ids."""
    with _running([["--bursts", f"--seconds={seconds}"]] * count):
        yield


@contextmanager
def hog(seconds: float, share: float = 0.3, count: int = 2) -> Iterator[None]:
    """Run hogs while the context lasts, at most `seconds`; they are ended by their ids."""
    options = [f"--seconds={seconds}", f"--share={share}"]
    with _running([[*options, f"--seed={number}"] for number in range(count)]):
        yield


@contextmanager
def _running(each: list[list[str]]) -> Iterator[None]:
    hogs = [subprocess.Popen([sys.executable, "-m", "benchmarks.calibration.hog", *options]) for options in each]
    try:
        yield
    finally:
        for one in hogs:
            one.terminate()
            one.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--bursts", action="store_true")
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.bursts:
        burst(options.seconds)
    else:
        wander(options.seconds, options.share, options.seed)
