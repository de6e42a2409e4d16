"""Writes a set-up as a scenario folder: manifests, programs and their behaviour files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.faults.setup import Server, Setup
from touchstone.engine.locate import engine_path

HERE = Path(__file__).parent
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight")

_READY = {"target": "/ping", "expect": {"body": "pong"}}
_CONTRACT: list[dict[str, Any]] = [
    {
        "id": "ping",
        "says": "ping answers pong",
        "steps": [{"target": "/ping", "expect": {"body": "pong", "content_type": "text/plain"}}],
    },
    {
        "id": "unknown-path",
        "says": "an unknown path is 404",
        "steps": [{"target": "/nowhere", "expect": {"status": 404}}],
    },
    {
        "id": "wrong-method",
        "says": "a wrong method is 405",
        "steps": [{"method": "POST", "target": "/ping", "expect": {"status": 405}}],
    },
]


def write_scenario(setup: Setup, folder: Path, programs: Path) -> Path:
    """The scenario folder of a set-up; `programs` keeps what is compiled."""
    scenario: dict[str, Any] = {
        "schema": 1,
        "name": "bench",
        "title": "Bench",
        "summary": "A small service",
        "ready": _READY,
        "contract": _contract(setup),
        "loads": {"work": load_table(setup)},
        **setup.scenario,
    }
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(document(scenario))
    for name, server in zip(NAMES, setup.servers, strict=False):
        _write_stack(folder / name, name, server, programs)
    return folder


def load_table(setup: Setup) -> dict[str, Any]:
    """The load."""
    table: dict[str, Any] = {
        "title": "Work",
        "connections": 16,
        "seconds": setup.seconds,
        "warmup_s": setup.warmup,
        "timeout_s": 1.0,
        "requests": [{"name": "work", "target": "/work?n={counter}", "expect": {"body": "done {counter}"}}],
    }
    table |= setup.load
    # What a set-up gives as None is left to the lab's own default.
    return {key: value for key, value in table.items() if value is not None}


def _contract(setup: Setup) -> list[dict[str, Any]]:
    # The null server knows no 405, and answers 404 instead.
    usual = _CONTRACT[:2] if any(server.program == "null" for server in setup.servers) else _CONTRACT
    return [*usual, *setup.contract]


def _write_stack(folder: Path, name: str, server: Server, programs: Path) -> None:
    folder.mkdir()
    (folder / "behaviour").write_text("".join(f"{knob} = {value}\n" for knob, value in server.knobs.items()))
    if server.program == "server":
        shutil.copy2(compiled(programs), folder / "program")
        run = ["./program"]
    elif server.program == "sources":
        for source in (HERE / "server").iterdir():
            shutil.copy2(source, folder)
        run = ["./program"]
    elif server.program in {"service", "consumer"}:
        shutil.copy2(HERE / f"{server.program}.py", folder / "program")
        run = [sys.executable, "program"]
    else:
        routes = ["GET /ping=pong", "GET /work=done {query.n}"]
        command = [str(engine_path()), "null", "--port", "$PORT", *(f"--route={route}" for route in routes)]
        words = " ".join(word if word == "$PORT" else f"'{word}'" for word in command)
        (folder / "program").write_text(f"exec {words}\n")
        run = ["/bin/sh", "program"]
    stack: dict[str, Any] = {
        "schema": 1,
        "name": name,
        "scenario": "bench",
        "title": name,
        "language": "any",
        "needs": server.needs,
        "variants": {
            "plain": {
                "title": "plain",
                "build": server.build,
                "artifacts": ["program"],
                "run": run,
                "env": server.env,
            }
        },
    }
    (folder / "stack.toml").write_text(document(stack))


@cache
def compiled(programs: Path) -> Path:
    """The C server, compiled once. Raises CalledProcessError with the compiler's words."""
    target = programs / "server"
    sources = sorted((HERE / "server").glob("*.c"))
    programs.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-O2", "-std=gnu17", "-o", str(target), *map(str, sources), "-lpthread", "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def document(tables: dict[str, Any]) -> str:
    """A TOML document with one line a key."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in tables.items())


def inline(value: Any) -> str:
    """A value as inline TOML; JSON's strings, numbers and truth values are TOML's, too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return json.dumps(value)
