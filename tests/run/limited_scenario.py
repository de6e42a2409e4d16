"""A scenario whose contenders have capacities that are known."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration" / "limited.c"

_SCENARIO = """schema = 1
name = "limited"
title = "Services of known capacity"
summary = "Servers that answer so many requests a second and no more."
baseline = "tokens"
[ready]
target = "/ping"
expect = { body = "pong" }
[[contract]]
id = "ping"
says = "ping answers pong"
steps = [{ target = "/ping", expect = { body = "pong" } }]
[loads.work]
title = "Work"
connections = 256
requests = [{ name = "work", target = "/", expect = { body = "late" } }]
"""

_STACK = """schema = 1
name = "{name}"
scenario = "limited"
title = "{name}"
language = "C"
[needs]
cc = ">=1"
[variants.plain]
title = "cc -O2"
build = [["cc", "-O2", "-o", "limited", "limited.c"]]
artifacts = ["limited"]
run = {run}
"""


def limited_scenario(folder: Path, servers: Mapping[str, Sequence[str]]) -> Path:
    """The scenario with a stack for each server: its words as limited.c takes them."""
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(_SCENARIO, encoding="utf-8")
    for name, words in servers.items():
        stack = folder / name
        stack.mkdir()
        shutil.copy(SOURCE, stack)
        run = json.dumps(["./limited", *words])
        (stack / "stack.toml").write_text(_STACK.format(name=name, run=run), encoding="utf-8")
    return folder
