"""Stacks whose own code has something to test bring their tests; they are run here by their languages' runners."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CRUD = SCENARIOS / "crud"


def test_node_reads_users_strictly() -> None:
    _test_by_node(CRUD / "node")


def test_a_stop_of_quotes_in_node_cuts_nothing_and_waits_for_no_idle_connection() -> None:
    _test_by_node(SCENARIOS / "quotes" / "node")


def _test_by_node(folder: Path) -> None:
    node = find_tool("node", ">=20")
    if not isinstance(node, FoundTool):
        pytest.skip(str(node))
    # A run that finds no test ends well, too.
    assert re.search(r"^# pass [1-9]", _run([str(node.path), "--test"], folder), re.MULTILINE)


def test_python_reads_users_strictly() -> None:
    _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], CRUD / "python")


def _run(command: list[str], folder: Path) -> str:
    env = {**os.environ, "PYTHONPATH": ".", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
