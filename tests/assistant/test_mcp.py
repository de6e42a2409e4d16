"""`touchstone mcp`, driven by the SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitResult

from tests.command import touchstone

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assistant")
    for name in ("hello", "users"):
        (folder / "results" / name).mkdir(parents=True)
        with tarfile.open(ROOT / "tests/golden/runs" / f"{name}.tar.xz") as packed:
            packed.extractall(folder / "results" / name, filter="data")
    assert touchstone("new", "bench", cwd=folder).returncode == 0
    return folder


def asked(home: Path, tool: str, arguments: dict[str, Any], answer: ElicitationFnT | None = None) -> str:
    """What a tool answers."""

    async def ask() -> str:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "touchstone", "mcp"], cwd=str(home), env=dict(os.environ)
        )
        async with Client(command, elicitation_callback=answer) as client:
            result = await client.call_tool(tool, arguments)
            return "\n".join(part.text for part in result.content if part.type == "text")

    return asyncio.run(asyncio.wait_for(ask(), 120))


def test_an_assistant_lists_shows_explains_and_compares_runs(home: Path) -> None:
    assert asked(home, "list_runs", {}).split() == ["hello", "users"]
    shown = asked(home, "show", {"run": "hello"})
    assert "rust-hyper/plain" in shown
    assert "exit code: 0" in shown
    assert "interval 59.2 k/s to 238 k/s" in asked(
        home, "explain", {"run": "hello", "id": "rust-hyper/plain:throughput"}
    )
    assert "scenario" in asked(home, "compare", {"before": "hello", "after": "users"})


def test_an_assistant_checks_manifests(home: Path) -> None:
    assert "nothing wrong" in asked(home, "check", {"scenario": "bench"})
    manifest = home / "bench" / "scenario.toml"
    sound = manifest.read_text(encoding="utf-8")
    manifest.write_text(sound.replace("connections", "conections"), encoding="utf-8")
    said = asked(home, "check", {"scenario": "bench"})
    manifest.write_text(sound, encoding="utf-8")
    assert "did you mean 'connections'" in said
    assert "exit code: 0" not in said


@pytest.mark.parametrize("tool", ["show", "explain", "start_run"])
def test_options_are_not_an_assistants_to_choose(home: Path, tool: str) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "show": {"run": "--json"},
        "explain": {"run": "hello", "id": "--help"},
        "start_run": {"scenario": "bench", "stacks": ["--url=a=http://example.test"]},
    }
    assert "is an option" in asked(home, tool, arguments[tool])


def test_a_run_starts_only_after_a_person_has_confirmed_it(home: Path) -> None:
    questions: list[str] = []

    async def refuse(context: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="decline")

    async def no(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"start": False})

    async def yes(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"start": True})

    for answer in (refuse, no):
        said = asked(home, "start_run", {"scenario": "bench"}, answer)
        assert "not started" in said
        assert "touchstone run bench --quick" in said
    assert "touchstone run bench --quick" in questions[0]
    # A client that cannot ask gets no run either.
    with pytest.raises(ExceptionGroup) as caught:
        asked(home, "start_run", {"scenario": "bench"})
    assert "elicit" in repr(caught.value).lower()
    assert not [run for run in (home / "results").iterdir() if "bench" in run.name]
    # A scenario that is not there shows that the command is called.
    assert "there is no scenario" in asked(home, "start_run", {"scenario": "nowhere"}, yes)
