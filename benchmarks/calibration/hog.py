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


@contextmanager
def hog(seconds: float, share: float = 0.3, count: int = 2) -> Iterator[None]:
    """Run hogs while the context lasts, at most `seconds`; they are ended by their ids."""
    command = [sys.executable, "-m", "benchmarks.calibration.hog", f"--seconds={seconds}", f"--share={share}"]
    hogs = [subprocess.Popen([*command, f"--seed={number}"]) for number in range(count)]
    try:
        yield
    finally:
        for one in hogs:
            one.terminate()
            one.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wander(options.seconds, options.share, options.seed)
