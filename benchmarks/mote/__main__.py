"""Measures what mote is asked to reach and prints reached against asked.

Usage: python -m benchmarks.mote [--rounds 7] [--seconds 3] [--build DIRECTORY]
Needs cmake, a C++20 compiler, cargo, wrk and valgrind.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.mote import build, cpu, hold, instructions, never_reading
from benchmarks.mote.goal import Goal
from benchmarks.mote.server import BACKENDS


def main() -> int:
    """Runs everything; 3 if a figure was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="alternating rounds a comparison")
    parser.add_argument("--seconds", type=int, default=3, help="load in a round")
    parser.add_argument("--build", type=Path, help="where to build; a temporary folder otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mote-bench-") as temporary:
        programs = build.build(options.build or Path(temporary))
        reached = [
            _print(partial(module.measure, programs.mote, backend), f", {backend}")
            for module in (hold, never_reading, instructions)
            for backend in BACKENDS
        ]
        reached.append(_print(partial(cpu.measure, programs, rounds=options.rounds, seconds=options.seconds)))
    return 0 if all(reached) else 3


def _print(measurement: partial[list[Goal]], of: str = "") -> bool:
    """Writes the rows of one measurement as soon as it has them; whether all were reached."""
    try:
        goals = measurement()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        # The other figures do not hang on this one.
        sys.stdout.write(f"NOT MEASURED  {measurement.func.__module__}{of}: {error}\n")
        return False
    for goal in goals:
        sys.stdout.write(f"{replace(goal, what=goal.what + of).line()}\n")
    sys.stdout.flush()
    return all(goal.reached for goal in goals)


if __name__ == "__main__":
    sys.exit(main())
