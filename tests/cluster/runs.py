"""Runs on the cluster of these tests, by the user's commands, and what they left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.cluster.network import HEAD_PORT, Machine
from tests.run.demo import demo


def run_demo(server: Machine, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Load the demo of this name, made if it is not there, from the cluster."""
    head = f"{server.address}:{HEAD_PORT}"
    folder = server.folder / name
    words = [
        "run",
        folder if folder.exists() else demo(folder),
        "--cluster",
        head,
        "--quick",
        "--phase",
        "load",
        "--out",
        server.folder / f"{name}-results",
    ]
    return server.touchstone(*words, *options)


def loads(server: Machine, name: str) -> list[dict[str, Any]]:
    """The records of the loads of a run, by the contender's place in the round."""
    folder = server.folder / f"{name}-results" / "samples"
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [record for record in records if record["phase"] == "load"]


def wait_for_nodes(server: Machine, count: int) -> None:
    """Wait until Ray counts this number: it takes half a minute to notice a lost node."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        done = server.touchstone("doctor", "--cluster", f"{server.address}:{HEAD_PORT}", "--json")
        if done.returncode == 0 and done.stdout.count(": open files") == count:
            return
        time.sleep(3)
    raise AssertionError(done.stdout + done.stderr)


def judged(server: Machine, name: str, figure: str) -> dict[str, dict[str, Any]]:
    """The comparisons of a figure, by stack."""
    report = json.loads((server.folder / f"{name}-results" / "report.json").read_text())
    rows = report["judgement"]["comparisons"]
    return {row["contender"].split("/")[0]: row for row in rows if row["figure"] == figure}


def own(server: Machine, scenario: str, *options: str) -> Path:
    """Run one of the lab's own scenarios, built beforehand where registries can be reached; the results' folder."""
    out = server.folder / f"{scenario}-results"
    words = ["run", scenario, *options, "--quick", "--anyway"]
    building = [sys.executable, "-m", "touchstone", *words, "--phase", "build", "--out", f"{out}-build"]
    environment = {**os.environ, **server.environment}
    built = subprocess.run(building, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert built.returncode in {0, 4}, built.stdout + built.stderr
    head = f"{server.address}:{HEAD_PORT}"
    done = server.touchstone(*words, "--cluster", head, "--rounds", "1", "--out", out)
    assert (out / "report.html").exists(), done.stdout + done.stderr
    return out
