"""How late the engine sends in an open loop, and what that would add to latencies if it were counted in.

`python -m benchmarks.calibration.lateness [--rates N ...] [--repeat N]`: the null server on one CPU, the engine on
another, Poisson arrivals over 64 connections, sent when due and at multiples of 250 us in alternating runs. Prints
microseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections.abc import Iterator
from itertools import chain
from typing import Any

from touchstone.engine.locate import engine_path
from touchstone.traffic.null_server import server

_SLOTS = ("0us", "250us")
_HEAD = ("rate", "slot", "CPU/request", "latency p50", "latency p99", "lateness p50", "lateness p99")


def load(url: str, rate: int, slot: str, cpu: int) -> tuple[float, ...]:
    """CPU per request, latency p50 and p99, lateness p50 and p99, in microseconds."""
    options = [f"--rate={rate}", "--poisson", "--duration=2s", "--warmup=0.3s", "--connections=64", f"--slot={slot}"]
    command = [str(engine_path()), "load", "--json", f"--cpus={cpu}", *options, f"{url}/"]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    spread = (result[name][percentile] for name in ("latency", "lateness") for percentile in ("p50", "p99"))
    used = result["generator"]["cpu_s"] / result["counts"]["completed"]
    return tuple(1e6 * seconds for seconds in (used, *spread))


def rows(rates: list[int], repeat: int) -> Iterator[tuple[str, ...]]:
    """A row for each rate and slot, medians over the repetitions."""
    cpus = sorted(os.sched_getaffinity(0))
    with server("null", [], cpus[:1]) as null:
        for rate in rates:
            found = [[load(null.url, rate, slot, cpus[-1]) for slot in _SLOTS] for _ in range(repeat)]
            for slot, runs in zip(_SLOTS, zip(*found, strict=True), strict=True):
                figures = (statistics.median(values) for values in zip(*runs, strict=True))
                yield (str(rate), slot, *(f"{figure:.0f}" for figure in figures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=int, nargs="+", default=[1_000, 2_000, 4_000, 8_000, 16_000])
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    for row in chain([_HEAD], rows(asked.rates, asked.repeat)):
        print(*(f"{cell:>12}" for cell in row), flush=True)
