"""Closed-loop load by wrk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PIPELINE_16 = Path(__file__).with_name("pipeline16.lua")


def server_cpu() -> Sequence[str]:
    """A prefix that keeps the server off the generator's CPU; nothing on one CPU."""
    return () if (os.cpu_count() or 1) < 2 else ("taskset", "-c", "0")


def run(url: str, *, connections: int, seconds: int, pipelined: bool = False) -> int:
    """Loads `url` and returns the requests answered; raises RuntimeError if any was not a 200."""
    if shutil.which("wrk") is None:
        raise RuntimeError("wrk is not installed: apt-get install wrk")
    command = ["taskset", "-c", "1"] if server_cpu() else []
    command += ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
    if pipelined:
        command += ["-s", str(PIPELINE_16)]
    output = subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout
    found = re.search(r"(\d+) requests in", output)
    if found is None or "Non-2xx" in output or "Socket errors" in output:
        raise RuntimeError(f"the load went wrong:\n{output}")
    return int(found.group(1))
