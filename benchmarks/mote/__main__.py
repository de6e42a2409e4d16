"""Measures what mote is asked to reach and prints reached against asked.

Usage: python benchmarks/mote [--rounds 7] [--seconds 3] [--build DIRECTORY]
Needs cmake, a C++20 compiler, cargo, wrk and valgrind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import build
import cpu
import hold
import instructions
import never_reading
from goal import Goal


def main() -> int:
    """Runs everything; 3 if a figure was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="alternating rounds a comparison")
    parser.add_argument("--seconds", type=int, default=3, help="load in a round")
    parser.add_argument("--build", type=Path, help="where to build; a temporary folder otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mote-bench-") as temporary:
        programs = build.build(options.build or Path(temporary))
        goals: list[Goal] = []
        goals += hold.measure(programs.mote)
        goals += never_reading.measure(programs.mote)
        goals += instructions.measure(programs.mote)
        goals += cpu.measure(programs, rounds=options.rounds, seconds=options.seconds)
    for goal in goals:
        sys.stdout.write(f"{goal.line()}\n")
    return 0 if all(goal.reached for goal in goals) else 3


if __name__ == "__main__":
    sys.exit(main())
