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

CRUD = Path(__file__).parents[2] / "scenarios" / "crud"


def test_node_reads_users_strictly() -> None:
    node = find_tool("node", ">=20")
    if not isinstance(node, FoundTool):
        pytest.skip(str(node))
    # A run that finds no test ends well, too.
    assert re.search(r"^# pass [1-9]", _run([str(node.path), "--test"], CRUD / "node"), re.MULTILINE)


def test_python_reads_users_strictly() -> None:
    _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], CRUD / "python")


def _run(command: list[str], folder: Path) -> str:
    env = {**os.environ, "PYTHONPATH": ".", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
