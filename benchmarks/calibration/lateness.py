"""How late the engine sends in an open loop, and what that would add to latencies if it were counted in.

`python -m benchmarks.calibration.lateness [--rates N ...] [--repeat N]`: the null server on one CPU, the engine on
another, Poisson arrivals over 64 connections, sent when due and at multiples of 250 us in alternating runs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections.abc import Iterator
from typing import Any

from touchstone.bench.tare import server
from touchstone.engine.locate import engine_path

_SLOTS = ("0us", "250us")
_COLUMNS = {"rate": 7, "slot": 6, "CPU/request": 12, "latency p50": 12, "p99": 6, "lateness p50": 13, "p99 ": 6}


def load(url: str, rate: int, slot: str, cpu: int) -> tuple[float, ...]:
    """CPU per request, latency p50 and p99, lateness p50 and p99, in microseconds."""
    options = [f"--rate={rate}", "--poisson", "--duration=2s", "--warmup=0.3s", "--connections=64", f"--slot={slot}"]
    command = [str(engine_path()), "load", "--json", f"--cpus={cpu}", *options, f"{url}/"]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    spread = (result[name][percentile] for name in ("latency", "lateness") for percentile in ("p50", "p99"))
    used = result["generator"]["cpu_s"] / result["counts"]["completed"]
    return tuple(1e6 * seconds for seconds in (used, *spread))


def rows(rates: list[int], repeat: int) -> Iterator[str]:
    """A line for each rate and slot, medians over the repetitions."""
    cpus = sorted(os.sched_getaffinity(0))
    with server("null", [], cpus[:1]) as null:
        for rate in rates:
            found = [[load(null.url, rate, slot, cpus[-1]) for slot in _SLOTS] for _ in range(repeat)]
            for slot, runs in zip(_SLOTS, zip(*found, strict=True), strict=True):
                used, p50, p99, late50, late99 = (statistics.median(values) for values in zip(*runs, strict=True))
                yield f"{rate:>7} {slot:>6} {used:>12.0f} {p50:>12.0f} {p99:>6.0f} {late50:>13.0f} {late99:>6.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=int, nargs="+", default=[1_000, 2_000, 4_000, 8_000, 16_000])
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    print(*(f"{name:>{width}}" for name, width in _COLUMNS.items()), "  (us)")
    for line in rows(asked.rates, asked.repeat):
        print(line, flush=True)
