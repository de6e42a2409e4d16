"""Compares planted causes of slow requests with those that `touchstone why --latency` names.

`python -m benchmarks.calibration.slow_requests [CAUSE ...] [--rounds N]` writes a scenario for each cause and
size around `slow_requests/main.go`, runs the phase `tail` on it, and prints the named causes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.calibration.hog import hog

_SOURCE = Path(__file__).with_name("slow_requests")
_COMMAND = [sys.executable, "-m", "touchstone"]
_HOG_S = 120.0


@dataclass(frozen=True)
class Planted:
    """A cause, its sizes in milliseconds (`garbage`: MiB), and the parts by which it may be named."""

    sizes: tuple[float, ...]
    named: tuple[str, ...]
    load: str = "rate = 300\nconnections = 16"
    """Keys of the load; `{size}` is the size."""
    cause: str = ""
    """What the program does, if its name says something else."""
    neighbour: bool = False


CAUSES = {
    "lock": Planted((10, 20, 40), ("lock, pool or timer",)),
    "pool": Planted((4, 8, 16), ("lock, pool or timer",), load="connections = 16"),
    "garbage": Planted((40, 80, 160), ("collector and compiler on the CPU", "runtime pause"), load="rate = 200"),
    "work": Planted((10, 20, 40), ("server's own CPU",)),
    "quota": Planted((0.5, 0.35, 0.25), ("stopped by the CPU quota",), load="rate = 60\ncpus = {size}", cause="spin"),
    "neighbour": Planted((0.5, 0.7, 0.9), ("CPU taken by other processes",), cause="spin", neighbour=True),
    "downstream": Planted((10, 20, 40), ("dependency echo",)),
    "log": Planted((10, 20, 40), ("disk or file",)),
    "accept": Planted((10, 20, 40), ("opening the connection, accept queue",), load="rate = 300\nkeepalive = false"),
    "ack": Planted((40,), ("response held until an acknowledgement",)),
    "none": Planted((0,), ()),
}


def write_scenario(folder: Path, cause: str, planted: Planted, size: float) -> None:
    """A scenario with one stack that is slow for this cause."""
    load = planted.load.format(size=size)
    loop = "open" if "rate" in load else "closed"
    (folder / "scenario.toml").write_text(f"""schema = 1
name = "slow"
title = "Slow for a known reason"
summary = "GET /hello is slow now and then."
version = 1
baseline = "go"

[ready]
target = "/hello"
expect = {{ body = "Hello, world!" }}

[[contract]]
id = "hello"
says = "GET /hello answers"
steps = [{{ target = "/hello", expect = {{ body = "Hello, world!" }} }}]

[dependencies.echo]
kind = "echo"
env = "ECHO_URL"
settings = {{ delay_ms = {size if cause == "downstream" else 1} }}

[loads.planted]
title = "planted"
loop = "{loop}"
{load}
idle_s = 0
requests = [{{ target = "/hello", expect = {{ body = "Hello, world!" }} }}]

[settings]
CAUSE = "{planted.cause or cause}"
SIZE = "{2 if planted.cause == "spin" else size}"
""")
    stack = folder / "go"
    stack.mkdir()
    for source in _SOURCE.iterdir():
        shutil.copy(source, stack)
    (stack / "stack.toml").write_text("""schema = 1
name = "go"
scenario = "slow"
title = "planted"
language = "Go"
summary = "a cause of slow requests"
sources = ["go.mod", "*.go"]

[needs]
go = ">=1.26"

[variants.plain]
title = "go build"
build = [["go", "build", "-trimpath", "-o", "planted", "."]]
build_env = { CGO_ENABLED = "0", GOCACHE = "{cache}/go-build", GOTOOLCHAIN = "local" }
artifacts = ["planted"]
run = ["./planted"]
""")


def explained(cause: str, planted: Planted, size: float, rounds: int) -> dict[str, Any]:
    """The explanation that the command gives."""
    with tempfile.TemporaryDirectory(prefix="touchstone-slow-") as place, ExitStack() as stack:
        folder = Path(place) / "slow"
        folder.mkdir()
        write_scenario(folder, cause, planted, size)
        if planted.neighbour:
            stack.enter_context(hog(_HOG_S, share=size))
        run = [
            *_COMMAND,
            "run",
            str(folder),
            "--quick",
            "--rounds",
            str(rounds),
            "--phase",
            "tail",
            "--out",
            place + "/r",
        ]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stdout + done.stderr)
        said = subprocess.run(
            [*_COMMAND, "why", place + "/r", "--latency", "--json"], capture_output=True, text=True, check=True
        )
        (found,) = json.loads(said.stdout)["explanations"]
        return dict(found)


def results(causes: list[str], rounds: int) -> Iterator[bool]:
    """Print each case; whether it was named rightly."""
    for cause in causes:
        planted = CAUSES[cause]
        for size in planted.sizes:
            found = explained(cause, planted, size, rounds)
            right = set(found["main"]) <= set(planted.named) if planted.named else not found["main"]
            right = right and bool(found["main"]) == bool(planted.named)
            parts = ", ".join(f"{1e3 * part['seconds']:.1f} {part['name']}" for part in found["parts"][:4])
            verdict = "right" if right else "WRONG"
            print(
                f"{cause} {size:g}: {verdict}: {found['main']}: {1e3 * found['total']['seconds']:+.1f} ms: {parts}",
                flush=True,
            )
            yield right


def main() -> int:
    """1 if a cause was not named rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("causes", nargs="*", choices=[*CAUSES, []], help="all if left out")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rights = list(results(options.causes or list(CAUSES), options.rounds))
    print(f"{sum(rights)} of {len(rights)} right")
    return 0 if all(rights) else 1


if __name__ == "__main__":
    sys.exit(main())
