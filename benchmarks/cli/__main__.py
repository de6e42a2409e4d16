"""`python -m benchmarks.cli`: CPU seconds of commands that answer at once, the median of several starts each.

The answer's files must be in the page cache, so the first start of each is not counted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

STARTS = 7
COMMANDS = (["--version"], ["--help"], ["list"], ["run", "--help"], ["explain", "--help"])


def cpu_seconds(words: list[str]) -> float:
    """User and system time of one start."""
    before = os.times()
    command = [sys.executable, "-m", "touchstone", *words]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


for words in COMMANDS:
    cpu_seconds(words)
    taken = [cpu_seconds(words) for _ in range(STARTS)]
    print(f"touchstone {' '.join(words):15} {statistics.median(taken):.2f} s ({min(taken):.2f} to {max(taken):.2f})")
