"""Whether slices give the ratios that whole windows give, and how much less they scatter, on real services.

`python -m benchmarks.calibration.windows SCENARIO [--load L] [--stacks A,B] [--pairs N] [--rounds R]` runs the scenario
with slices and with `--whole-windows` in turn, N times each. Printed for each contender against the baseline: the
geometric mean of its ratio both ways, the quotient of the two, and how much the ratio scatters from run to run.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from touchstone.judge.judge import judge
from touchstone.record.store import load_run

FIGURES = ("throughput", "cpu_per_request", "latency_p50")
Key = tuple[str, str, str]


def ratios(options: argparse.Namespace, out: Path, *, whole: bool) -> dict[Key, float]:
    """The ratios of one run: by load, contender and figure."""
    command = [sys.executable, "-m", "touchstone", "run", options.scenario, "--quick", "--phase", "load"]
    command += ["--rounds", str(options.rounds), "--out", str(out)]
    command += ["--load", options.load] if options.load else []
    command += ["--stacks", options.stacks] if options.stacks else []
    command += ["--whole-windows"] if whole else []
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    found = judge(load_run(out)).comparisons
    return {(c.load or "", c.contender, c.figure): c.ratio for c in found if c.figure in FIGURES and c.ratio}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--load")
    parser.add_argument("--stacks")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    seen: dict[bool, dict[Key, list[float]]] = {False: {}, True: {}}
    with tempfile.TemporaryDirectory(prefix="touchstone-windows-") as name:
        for number in range(2 * options.pairs):
            whole = bool((number + number // 2) % 2)
            for key, value in ratios(options, Path(name) / str(number), whole=whole).items():
                seen[whole].setdefault(key, []).append(math.log(value))
    print("| load | contender | figure | slices | whole windows | slices / windows | scatter: slices | windows |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for key in sorted(seen[False].keys() & seen[True].keys()):
        slices, windows = seen[False][key], seen[True][key]
        middle, other = statistics.fmean(slices), statistics.fmean(windows)
        scatter = [f"{statistics.stdev(v):.1%}" if len(v) > 1 else "" for v in (slices, windows)]
        print(
            f"| {' | '.join(key)} | {math.exp(middle):.3f} | {math.exp(other):.3f} "
            f"| {math.exp(middle - other):.3f} | {' | '.join(scatter)} |"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
