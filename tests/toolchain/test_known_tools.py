"""Every tool that a manifest may name is found, or it is said how to get it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.manifest.test_reader import STACK, written
from touchstone.failure import UsageError
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.plan.plan import find_tools
from touchstone.toolchain.packaged import PACKAGED
from touchstone.toolchain.registry import TOOLS, find_tool
from touchstone.toolchain.tool import FoundTool, MissingTool

EXPECTED = [
    *("node", "npm", "pnpm", "yarn", "bun", "deno", "python", "python3", "uv"),
    *("dotnet", "ruby", "php", "elixir", "zig"),
    *("gcc", "clang", "cc", "cxx", "cmake", "ninja", "go", "cargo", "java", "mvn", "gradle", "native-image"),
    *("upx", "crane", "wrk", "zstd"),
]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_tool_is_known_and_says_how_to_get_it(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_tool(name, ">=9999")
    assert isinstance(found, MissingTool)
    assert found.install
    if name in PACKAGED:
        assert f"touchstone toolchain {name}" in found.install


def test_an_unknown_tool_names_file_stack_and_known_names(tmp_path: Path) -> None:
    found = read_scenario_folder(written(tmp_path / "demo", stack=STACK.replace("python3 =", "maven =")))
    with pytest.raises(UsageError) as caught:
        find_tools(select_contenders(found, [])[0])
    said = str(caught.value)
    for part in ("there is no tool 'maven'", "one/stack.toml", "one/plain", "did you mean 'mvn'", *sorted(TOOLS)):
        assert part in said


def test_a_version_managers_script_is_not_taken_for_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / "python3"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = find_tool("python3")
    assert isinstance(found, FoundTool)
    assert found.path == Path(sys.executable)
