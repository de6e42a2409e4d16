"""Compares planted causes of slow requests with those that `touchstone why --latency` names.

`python -m benchmarks.calibration.slow_requests [CAUSE ...] [--rounds N] [--keep FOLDER]` writes a scenario for each
cause and size around the programs in `slow_requests/`, runs the phase `tail` on it, and prints a row of a table: the
size by the program's own log, and what was named. `--keep` leaves the runs in a folder, where runs that
are there are only judged.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.calibration.hog import bursts

_SOURCE = Path(__file__).with_name("slow_requests")
_COMMAND = [sys.executable, "-m", "touchstone"]
_NEIGHBOUR_S = 120.0
_LOGGED = re.compile(r"planted: p99 ([\d.]+) ms, median ([\d.]+) ms")
_WITHIN = 0.25
"""A size is right within this share."""


@dataclass(frozen=True)
class Planted:
    """A cause, its sizes in milliseconds (or as the program takes them), and the parts by which it may be named."""

    sizes: tuple[float, ...]
    named: tuple[str, ...]
    load: str = "rate = 300\nconnections = 16"
    """Keys of the load; `{size}` is the size."""
    setting: str = "{size:g}"
    """The program's `SIZE`."""
    stack: str = "go"
    logged: bool = True
    """Whether the program's log says how long it held up requests; else the cause makes up the whole difference."""
    against_twin: bool = False
    """Whether every request is held up, so that only a sound twin shows it."""
    neighbours: bool = False
    """Whether processes take the server's CPU; the size is their number."""


CAUSES = {
    "lock": Planted((10, 20, 40), ("lock, pool or timer",)),
    "pool": Planted((4, 8, 16), ("lock, pool or timer",), load="connections = 16", against_twin=True),
    "garbage": Planted((40, 80, 160), ("collector and compiler on the CPU", "runtime pause"), load="rate = 200"),
    "java": Planted((40, 80, 160), ("runtime pause",), load="rate = 200", stack="java"),
    "work": Planted((10, 20, 40), ("server's own CPU",)),
    "quota": Planted(
        (0.4, 0.25, 0.15),  # so small that it is used up also where other programs take half of the CPU
        ("stopped by the CPU quota",),
        load="rate = 60\ncpus = {size}",
        setting="100",
        logged=False,
    ),
    "neighbour": Planted(
        (2, 4, 8), ("CPU taken by other processes",), load="rate = 100", neighbours=True, logged=False
    ),
    "downstream": Planted((10, 20, 40), ("dependency echo",)),
    "postgres": Planted((10, 20, 40), ("dependency database",), stack="postgres"),
    "log": Planted((10, 20, 40), ("disk or file",)),
    "accept": Planted(
        (10, 20, 40),
        ("opening the connection, accept queue",),
        load="rate = 300\nkeepalive = false",
        logged=False,
    ),
    # Only a client that asks again at once delays its acknowledgements.
    "ack": Planted((40,), ("response held until an acknowledgement",), load="connections = 2", logged=False),
    "none": Planted((1, 2, 3), ()),
}


_ECHO = """[dependencies.echo]
kind = "echo"
env = "ECHO_URL"
settings = {{ delay_ms = {delay} }}"""
_DATABASE = """[dependencies.database]
kind = "postgres"
env = "DATABASE_URL"

[dependencies.database.settings]
schema = "CREATE TABLE counters(id INT PRIMARY KEY, n INT NOT NULL); INSERT INTO counters VALUES (1, 0), (2, 0);"
max_connections = 100"""


def write_scenario(folder: Path, cause: str, planted: Planted, size: float) -> None:
    """A scenario with one stack that is slow for this cause."""
    load = planted.load.format(size=size)
    (folder / "scenario.toml").write_text(f"""schema = 1
name = "slow"
title = "Slow for a known reason"
summary = "GET /hello is slow now and then."
version = 1
baseline = "{planted.stack}"

[ready]
target = "/hello"
expect = {{ body = "Hello, world!" }}

[[contract]]
id = "hello"
says = "GET /hello answers"
steps = [{{ target = "/hello", expect = {{ body = "Hello, world!" }} }}]

{_DATABASE if cause == "postgres" else _ECHO.format(delay=size if cause == "downstream" else 1)}

[loads.planted]
title = "planted"
loop = "{"open" if "rate" in load else "closed"}"
{load}
warmup_s = 1
seconds = 4
idle_s = 0
requests = [{{ target = "/hello", expect = {{ body = "Hello, world!" }} }}]

[settings]
CAUSE = "{cause}"
SIZE = "{planted.setting.format(size=size)}"
""")
    shutil.copytree(_SOURCE / planted.stack, folder / planted.stack)


def measure(place: Path, cause: str, planted: Planted, size: float, rounds: int) -> None:
    """Carry out a run, into `place`/run."""
    folder = place / "slow"
    folder.mkdir(parents=True)
    write_scenario(folder, cause, planted, size)
    stacks = (f"{planted.stack}/sound," if planted.against_twin else "") + f"{planted.stack}/plain"
    chosen = ["--phase", "tail", "--stacks", stacks, "--rounds", str(rounds), "--anyway"]
    with ExitStack() as stack:
        if planted.neighbours:
            stack.enter_context(bursts(_NEIGHBOUR_S, int(size)))
        run = [*_COMMAND, "run", str(folder), *chosen, "--out", str(place / "run")]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)


def explained(run: Path) -> dict[str, Any]:
    """The explanation that the command gives of the one contender that is slow."""
    said = subprocess.run(
        [*_COMMAND, "why", str(run), "--latency", "--json"], capture_output=True, text=True, check=True
    )
    return next(
        dict(found)
        for found in json.loads(said.stdout)["explanations"]
        if not found["contender"]["contender"].endswith("sound")
    )


def logged_ms(run: Path, *, against_twin: bool) -> float | None:
    """For how long the cause held up requests around p99, less those around p50 or nothing, by the program's logs."""
    logs = sorted((run / "logs").glob("*-tail-*plain*r[0-9]*.log"))
    found = [_LOGGED.search(log.read_text(errors="replace")) for log in logs]
    values = [float(one[1]) - (0.0 if against_twin else float(one[2])) for one in found if one]
    return sum(values) / len(values) if values else None


def results(causes: list[str], rounds: int, keep: Path) -> Iterator[bool]:
    """Print each case; whether it was named rightly, with its size."""
    print("| planted | ms by its log | p99 higher by | right part | named | right |\n|---|---|---|---|---|---|")
    for cause in causes:
        planted = CAUSES[cause]
        for size in planted.sizes:
            place = keep / f"{cause}-{size:g}"
            if not (place / "run").exists():
                measure(place, cause, planted, size, rounds)
            yield report(cause, planted, size, place / "run")


def report(cause: str, planted: Planted, size: float, run: Path) -> bool:
    """Print a row for one run; whether the cause was named rightly, with its size."""
    found = explained(run)
    total = 1e3 * found["total"]["seconds"]
    truth = logged_ms(run, against_twin=planted.against_twin) if planted.logged else total
    part = sum(1e3 * one["seconds"] for one in found["parts"] if _whole(one["name"]) in planted.named)
    named = {_whole(name) for name in found["main"]}
    if planted.named:
        right = bool(named) and named <= set(planted.named)
        sized = truth is not None and abs(part - truth) <= _WITHIN * truth
    else:
        right, sized = not named, True
    words = ", ".join(found["main"]) or (
        "unexplained" if found["verdict"].startswith("Unexplained") else "no difference"
    )
    verdict = "yes" if right and sized else "name only" if right else "**no**" if named else "no, none"
    known = f"{truth:.1f}" if truth is not None else ""
    print(f"| {cause} {size:g} | {known} | {total:.1f} | {part:.1f} | {words} | {verdict} |", flush=True)
    return right and sized


def _whole(name: str) -> str:
    """A part's name; of a dependency without the detail."""
    return name.partition(":")[0]


def main() -> int:
    """1 if a cause was not named rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("causes", nargs="*", choices=[*CAUSES, []], help="all if left out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="a folder for the runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="touchstone-slow-") as place:
        rights = list(results(options.causes or list(CAUSES), options.rounds, options.keep or Path(place)))
    print(f"\n{sum(rights)} of {len(rights)} right")
    return 0 if all(rights) else 1


if __name__ == "__main__":
    sys.exit(main())
