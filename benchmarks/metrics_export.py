"""Cost of `--metrics`: CPU time per request of the engine, and of all processes, in alternating loads with and without.

    python -m benchmarks.metrics_export [--loads 10] [--seconds 4]

Prints the ratio of each pair, and their mean with its interval. A scraper asks once a second.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import urllib.request
from pathlib import Path

from benchmarks.turns import null_server
from touchstone.engine.locate import engine_path
from touchstone.judge.statistics.intervals import ratio_interval

_PLACES = ("--metrics", "0", "--metrics", "live.ndjson")


def cpu_per_request(url: str, seconds: int, *, export: bool) -> tuple[float, float]:
    """CPU seconds per request of the engine, and of the engine with the command that runs it."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["load", url, "-c", "16", "-d", str(seconds), "--json", *(_PLACES if export else ())]
        before = os.times()
        command = [sys.executable, "-m", "touchstone", *words]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as load:
            assert load.stderr is not None  # it was asked for as a pipe
            assert load.stdout is not None  # likewise
            over = threading.Event()
            if export:
                place = load.stderr.readline().decode().split("metrics: ")[1].strip()
                threading.Thread(target=_scrape, args=(place, over), daemon=True).start()
            result = json.loads(load.stdout.read())
            over.set()
        after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    counts = result["counts"]
    return result["generator"]["cpu_s"] / counts["sent"], used / counts["sent"]


def _scrape(place: str, over: threading.Event) -> None:
    while not over.wait(1.0):
        try:
            urllib.request.urlopen(place, timeout=1).read()
        except OSError:
            return


def _row(name: str, pairs: list[tuple[float, float]]) -> str:
    effects = [math.log(with_export / without) for with_export, without in pairs]
    interval = ratio_interval(effects, 0.95)
    ends = f" ({interval.low:.4f} to {interval.high:.4f})" if interval else ""
    without = statistics.median(one for _, one in pairs)
    ratio = math.exp(statistics.fmean(effects))
    return f"{name}: {without * 1e6:.3f} us a request without export; with it times {ratio:.4f}{ends}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loads", type=int, default=10, help="pairs of loads")
    parser.add_argument("--seconds", type=int, default=4, help="length of each")
    asked = parser.parse_args()
    with null_server(engine_path(), on=()) as port:
        url = f"http://127.0.0.1:{port}/"
        engine, all_ = [], []
        for number in range(asked.loads):
            order = (True, False) if number % 2 else (False, True)
            measured = {export: cpu_per_request(url, asked.seconds, export=export) for export in order}
            engine.append((measured[True][0], measured[False][0]))
            all_.append((measured[True][1], measured[False][1]))
            print(f"{number + 1}: engine {engine[-1][0] / engine[-1][1]:.4f}, all {all_[-1][0] / all_[-1][1]:.4f}")
    print(_row("engine", engine))
    print(_row("engine and command", all_))


if __name__ == "__main__":
    assert Path("pyproject.toml").exists(), "start it in the checkout"
    main()
