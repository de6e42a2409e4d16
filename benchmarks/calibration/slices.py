"""How often slices find what was planted, on real servers and a noisy machine.

`python -m benchmarks.calibration.slices [--trials N] [--minutes M] [--hog SHARE] [--equal N] [--out FILE]` repeats one
comparison: a small Go server under two names (`same`), and copies of it that compute a little more for each request
(`slow2` and `slow5`: about 2 and 5 % of the request's CPU). With `--equal N` there are N names of the one server, and
each is compared with each other, one at a time. Each trial is a run of its own, with fresh processes in
each round. Printed: for each copy how often it was called slower, faster, equivalent or neither, how often the interval
held 1 (for `same` the truth), and how wide the intervals are.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from benchmarks.calibration.hog import hog
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison
from touchstone.record.run import Run
from touchstone.record.store import load_run

WORK = {"one": 40_000, "same": 40_000, "slow2": 41_150, "slow5": 42_900}
"""Steps of a chain of multiplications, about 1.3 ns each."""
FIGURES = ("throughput", "cpu_per_request", "latency_p50", "latency_p99")
CONFIDENCE = 0.95
MARGIN = 0.01
"""By the usual margin of 5 % a difference of 2 % is found to be none that matters."""


def write_scenario(folder: Path, work: dict[str, int]) -> None:
    """One service under several names, in Go: its handler computes, in some of them a little longer."""
    (folder / "scenario.toml").write_text(_SCENARIO, encoding="utf-8")
    for name, steps in work.items():
        stack = folder / name
        stack.mkdir(parents=True)
        (stack / "go.mod").write_text("module spin\n\ngo 1.24\n", encoding="utf-8")
        (stack / "main.go").write_text(_PROGRAM, encoding="utf-8")
        (stack / "stack.toml").write_text(_STACK.format(name=name, steps=steps), encoding="utf-8")


def trial(folder: Path, out: Path, minutes: float, seed: int) -> Run:
    """One run."""
    command = [
        sys.executable,
        "-m",
        "touchstone",
        "run",
        str(folder),
        "--quick",
        "--phase",
        "load",
        "--seed",
        str(seed),
    ]
    command += ["--minutes", str(minutes), "--out", str(out)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return load_run(out)


def against_the_first(run: Run) -> list[Comparison]:
    """Every copy against the first, as a user sees them."""
    return [c for c in judge(run, margin=MARGIN).comparisons if c.figure in FIGURES]


def each_with_each(run: Run) -> list[Comparison]:
    """Every pair of equal copies once. Each interval is at `CONFIDENCE` by itself, and not all of a figure together."""
    names = [c.name for c in run.plan.contenders]
    alone = 1 - (1 - CONFIDENCE) * (len(names) - 1)
    found = []
    for place, baseline in enumerate(names):
        run.plan.baseline = baseline
        judged = judge(run, margin=MARGIN, confidence=alone).comparisons
        found += [c for c in judged if c.figure in FIGURES and c.contender in names[place + 1 :]]
    for comparison in found:
        comparison.contender = "same"
    return found


def row(figure: str, name: str, found: list[Comparison]) -> str:
    """A line of the table for one copy and one figure."""
    outcomes = [c.outcome.value for c in found]
    held = [c for c in found if c.low is not None and c.high is not None and c.low <= 1 <= c.high]
    widths = sorted(math.log(c.high / c.low) / 2 for c in found if c.low and c.high and math.isfinite(c.high))
    middle = widths[len(widths) // 2] if widths else float("nan")
    shares = " | ".join(str(outcomes.count(word)) for word in ("slower", "faster", "equivalent", "undecided"))
    return f"| {name} | {figure} | {len(found)} | {shares} | {len(held)} | ± {middle:.1%} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--equal", type=int, default=0, metavar="N", help="N equal copies, each compared with each")
    parser.add_argument("--hog", type=float, default=0.0, help="the share of a CPU that each of two hogs takes")
    parser.add_argument("--out", type=Path, help="where the comparisons go, as JSON lines")
    options = parser.parse_args()
    work = {f"same{number}": WORK["same"] for number in range(options.equal)} or WORK
    kept: dict[tuple[str, str], list[Comparison]] = {}
    with tempfile.TemporaryDirectory(prefix="touchstone-slices-") as name:
        folder = Path(name) / "spin"
        folder.mkdir()
        write_scenario(folder, work)
        for number in range(options.trials):
            seconds = options.minutes * 60 + 120
            with hog(seconds, options.hog) if options.hog else nullcontext():
                run = trial(folder, Path(name) / f"run-{number}", options.minutes, seed=number + 1)
            found = each_with_each(run) if options.equal else against_the_first(run)
            for comparison in found:
                kept.setdefault((comparison.figure, comparison.contender.split("/")[0]), []).append(comparison)
                if options.out:
                    with options.out.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps(comparison.model_dump(mode="json")) + "\n")
    print("| copy | figure | comparisons | slower | faster | equivalent | undecided | 1 in interval | half width |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for (figure, name), found in sorted(kept.items()):
        print(row(figure, name, found))
    return 0


_SCENARIO = """schema = 1
name = "spin"
title = "A handler that spins"
summary = "One program under several names; some spin a little longer."
[ready]
target = "/"
expect = { body = "done" }
[[contract]]
id = "done"
says = "a request is answered"
steps = [{ target = "/", expect = { body = "done" } }]
[loads.work]
title = "Spin"
connections = 16
requests = [{ name = "work", target = "/", expect = { body = "done" } }]
"""

_STACK = """schema = 1
name = "{name}"
scenario = "spin"
title = "spin"
language = "Go"
[needs]
go = ">=1.24"
[variants.plain]
title = "go build"
build = [["go", "build", "-o", "spin", "."]]
build_env = {{ GOCACHE = "{{cache}}/go-build" }}
artifacts = ["spin"]
run = ["./spin"]
env = {{ STEPS = "{steps}" }}
"""

_PROGRAM = """// Command spin answers every request after a fixed number of steps.
package main

import (
	"net/http"
	"os"
	"strconv"
)

func main() {
	steps, err := strconv.Atoi(os.Getenv("STEPS"))
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		x := uint32(len(r.URL.Path))
		for range steps {
			x = x*1664525 + 1013904223
		}
		if x == 0 {
			return
		}
		_, _ = w.Write([]byte("done"))
	})
	if err := http.ListenAndServe(os.Getenv("HOST")+":"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}
"""

if __name__ == "__main__":
    sys.exit(main())
