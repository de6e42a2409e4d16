"""What is planted in a copy of a Go stack is what `touchstone why` names first, with its microseconds."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND
from tests.run.test_end_to_end import environment
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

HELLO = Path(__file__).parents[2] / "scenarios/hello"
SPUN_US = 4.0

PLANTED = {
    "spins": """
import "time"

//go:noinline
func planted() {
	for begin := time.Now(); time.Since(begin) < 4*time.Microsecond; {
	}
}
""",
    "asks": """
import "syscall"

//go:noinline
func planted() {
	var status syscall.Stat_t
	_ = syscall.Stat("/", &status)
	_ = syscall.Stat("/proc", &status)
}
""",
    "allocates": """
var kept []byte

//go:noinline
func planted() { kept = make([]byte, 64<<10) }
""",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(isinstance(find_tool(name), FoundTool) for name in ("go", "perf", "strace")),
        reason="needs go, perf and strace",
    ),
]


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By the name of the planted copy, what is said of it against the stack as it is."""
    home = tmp_path_factory.mktemp("planted")
    scenario = home / "hello"
    scenario.mkdir()
    shutil.copy(HELLO / "scenario.toml", scenario)
    _replace(scenario / "scenario.toml", 'baseline = "mote"', 'baseline = "go"')
    shutil.copytree(HELLO / "go", scenario / "go")
    # Built with its symbols it is profiled itself, and not a copy of it: that halves the time.
    manifest = scenario / "go" / "stack.toml"
    _replace(manifest, '"-ldflags=-s -w", ', "")
    _replace(manifest, 'profiled = { build = [["go", "build", "-trimpath", "-o", "hello", "."]] }\n', "")
    for name, source in PLANTED.items():
        copy = scenario / f"go-{name}"
        shutil.copytree(scenario / "go", copy)
        (copy / "planted.go").write_text(f"package main\n{source}")
        _replace(copy / "stack.toml", 'name = "go"', f'name = "go-{name}"')
        handler = "func(response http.ResponseWriter, _ *http.Request) {\n"
        _replace(copy / "main.go", handler, f"{handler}\t\tplanted()\n")
    words = ("--quick", "--rounds", "4", "--phase", "profile", "--load", "hundred")
    _touchstone(home, "run", str(scenario), *words)
    said = json.loads(_touchstone(home, "why", "last", "go", "--json"))
    return {one["contender"]: one for one in said["explanations"]}


def _replace(path: Path, what: str, by: str) -> None:
    text = path.read_text()
    assert text.count(what) == 1, f"{path} has changed"
    path.write_text(text.replace(what, by))


def _touchstone(home: Path, *words: str) -> str:
    done = subprocess.run(
        [*COMMAND, *words], cwd=home, env=environment(home), capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _differences(said: dict[str, Any], kind: str) -> dict[str, float]:
    """Microseconds per request by name, in the order of the report."""
    return {part["name"]: (part["contender"] - part["baseline"]) * 1e6 for part in said[kind]}


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_function_is_the_first_cause(explained: dict[str, Any], name: str) -> None:
    said = explained[f"go-{name}/plain"]
    first = said["functions"][0]
    assert first["name"] == "main.planted"
    total = _differences(said, "parts") | {"rest": (said["rest"]["contender"] - said["rest"]["baseline"]) * 1e6}
    measured = (said["total"]["contender"] - said["total"]["baseline"]) * 1e6
    assert sum(total.values()) == pytest.approx(measured, abs=1e-6)


def test_a_spin_has_its_microseconds(explained: dict[str, Any]) -> None:
    spun = _differences(explained["go-spins/plain"], "functions")["main.planted"]
    assert spun == pytest.approx(SPUN_US, rel=0.25)


@pytest.mark.parametrize("name", ["spins", "asks"])
def test_what_each_request_does_alike_is_certain(explained: dict[str, Any], name: str) -> None:
    assert explained[f"go-{name}/plain"]["functions"][0]["low"] > 0


def test_needless_system_calls_are_counted_exactly(explained: dict[str, Any]) -> None:
    first = explained["go-asks/plain"]["calls"][0]
    assert first["name"] == "newfstatat"
    assert first["contender"] - first["baseline"] == pytest.approx(2.0, abs=0.02)
    parts = _differences(explained["go-asks/plain"], "parts")
    assert max(parts, key=lambda part: parts[part]) == "kernel: other"


def test_an_allocation_shows_as_the_allocators_or_the_collectors(explained: dict[str, Any]) -> None:
    parts = _differences(explained["go-allocates/plain"], "parts")
    assert max(parts, key=lambda part: parts[part]) in {"allocator", "garbage collector", "kernel: other"}
    assert parts["allocator"] > 0
