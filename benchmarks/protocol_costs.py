"""`python -m benchmarks.protocol_costs RUN`: what each protocol costs, as a table of ratios with intervals.

RUN is the folder of a run of `hello` with the loads `hundred`, `hundred-tls`, `hundred-h2c` and `hundred-h2`. A ratio
puts a contender under a load against the same contender under `hundred`, paired by round.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

from touchstone.judge.statistics.intervals import log_effects, ratio_interval
from touchstone.record.run import Run
from touchstone.record.sample import TARE
from touchstone.record.store import load_run

BASELINE = "hundred"
FIGURES = {"cpu_per_request": (1e6, "us"), "throughput": (1e-3, "k/s")}


def values(run: Run, contender: str, load: str, figure: str) -> dict[int, float]:
    """A figure by round."""
    found = [s for s in run.samples if (s.contender, s.load, s.phase) == (contender, load, "load")]
    return {s.round: s.figures[figure] for s in found if s.round is not None and figure in s.figures}


def rows(run: Run, figure: str) -> Iterator[list[str]]:
    """For each contender, the null server last: the figure under each load, with its ratio to the first load."""
    scale, unit = FIGURES[figure]
    for contender in [*(one.name for one in run.plan.contenders), TARE]:
        base = values(run, contender, BASELINE, figure)
        cells = []
        for load in run.plan.loads:
            own = values(run, contender, load, figure)
            cell = f"{statistics.median(own.values()) * scale:.3g} {unit}" if own else "-"
            interval = ratio_interval(log_effects(own, base), run.plan.confidence) if load != BASELINE else None
            if interval is not None:
                cell += f", {interval.point:.2f}x ({interval.low:.2f} to {interval.high:.2f})"
            cells.append(cell)
        yield ["null server" if contender == TARE else contender, *cells]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    run = load_run(parser.parse_args().run)
    for figure in FIGURES:
        print(f"\n| {figure} | {' | '.join(run.plan.loads)} |\n|---{'|---' * len(run.plan.loads)}|")
        for row in rows(run, figure):
            print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
