"""`python -m benchmarks.project BEFORE AFTER`: what the project itself costs, two checkouts in turns, as ratios.

BEFORE and AFTER are folders of checkouts, such as two `git worktree`s. What is asked by `--what`:

    show, report        CPU seconds of the command on a recorded run
    json, html          bytes of report.json and report.html of that run
    packages            CPU seconds of installing the Python packages of `make setup` in a fresh clone
    first               seconds of `make run`, fresh clone and cache, to the first table that decides something
    setup, test, ci     seconds of `make setup`, `make test`, `.ci/run` from a fresh clone
    engine              CPU seconds of a release build of the engine without anything built before
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

RUN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "runs" / "newcomer.tar.xz"


def _run(words: list[str], folder: Path, **env: str) -> tuple[float, float]:
    """Seconds of a command, on the clock and of CPU."""
    before, begin = os.times(), time.monotonic()
    subprocess.run(words, cwd=folder, env=os.environ | env, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - begin, cpu


def _reported(name: str, checkout: Path) -> tuple[float, dict[str, int]]:
    """CPU seconds of `touchstone NAME` on the recorded run, and the bytes of each file in its folder then."""
    with TemporaryDirectory() as folder:
        with tarfile.open(RUN) as packed:
            packed.extractall(folder, filter="data")
        words = [sys.executable, "-m", "touchstone", name, folder]
        _, cpu_s = _run(words, checkout, PYTHONPATH=str(checkout / "src"))
        return cpu_s, {path.name: path.stat().st_size for path in Path(folder).iterdir() if path.is_file()}


@contextmanager
def _cloned(checkout: Path) -> Iterator[Path]:
    """A fresh clone, in a folder that goes with it."""
    with TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(checkout), str(clone)], check=True)
        yield clone


def _fresh(words: list[str], checkout: Path) -> tuple[float, float]:
    """Seconds of a command in a fresh clone, on the clock and of CPU."""
    with _cloned(checkout) as clone:
        return _run(words, clone)


def _first(checkout: Path) -> float:
    """Seconds until `make run` prints figures of which one is decided: after some of its rounds, or at its end."""
    begin = time.monotonic()
    with _cloned(checkout) as clone:
        env = os.environ | {"TOUCHSTONE_CACHE": str(clone.with_name("cache"))}
        run = subprocess.Popen(["make", "run"], cwd=clone, env=env, stdout=subprocess.PIPE, text=True, process_group=0)
        assert run.stdout is not None
        try:
            for line in run.stdout:
                if line.startswith(("So far, after", "report: ")):
                    return time.monotonic() - begin
            raise SystemExit("make run ended without a table")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGINT)
            run.stdout.close()
            run.wait()


def _engine(checkout: Path) -> float:
    """CPU seconds of a release build of the engine."""
    with TemporaryDirectory() as folder:
        words = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "touchstone-engine"]
        return _run([*words, "--target-dir", folder], checkout)[1]


WHAT: dict[str, Callable[[Path], float]] = {
    "show": lambda checkout: _reported("show", checkout)[0],
    "report": lambda checkout: _reported("report", checkout)[0],
    "json": lambda checkout: _reported("report", checkout)[1]["report.json"],
    "html": lambda checkout: _reported("report", checkout)[1]["report.html"],
    "setup": lambda checkout: _fresh(["make", "setup"], checkout)[0],
    "test": lambda checkout: _fresh(["make", "test"], checkout)[0],
    "ci": lambda checkout: _fresh([".ci/run"], checkout)[0],
    "packages": lambda checkout: _fresh(["make", ".venv/packages"], checkout)[1],
    "first": _first,
    "engine": _engine,
}


def main() -> None:
    """Print a line for each thing that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.project")
    parser.add_argument("before", type=lambda text: Path(text).resolve())
    parser.add_argument("after", type=lambda text: Path(text).resolve())
    parser.add_argument("--what", nargs="+", choices=WHAT, default=["show", "report", "json", "html"])
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    for name in asked.what:
        pairs = []
        for turn in range(asked.times):
            order = (asked.before, asked.after) if turn % 2 == 0 else (asked.after, asked.before)
            taken = {checkout: WHAT[name](checkout) for checkout in order}
            pairs.append((taken[asked.before], taken[asked.after]))
        before, after = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(late / early for early, late in pairs)
        print(f"{name:8} {before:12.4g} {after:12.4g}   ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
