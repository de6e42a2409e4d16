"""A tab offers scenarios, stacks and runs that are there, through the shell's own protocol."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_commands import runs
from tests.command import COMMAND

__all__ = ["runs"]


def offered(folder: Path, line: str) -> list[str]:
    """What bash would show after this line."""
    words = line.split(" ")
    env = os.environ | {
        "_TOUCHSTONE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    code = COMMAND[-1].replace("main()", "sys.argv[0] = 'touchstone'; main()", 1).replace("from", "import sys; from", 1)
    done = subprocess.run([*COMMAND[:-1], code], cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("touchstone ru", ["run"]),
        ("touchstone run us", ["users"]),
        ("touchstone run hello --stacks rust-h", ["rust-hyper"]),
        ("touchstone run hello --stacks go,rust-h", ["go,rust-hyper"]),
        ("touchstone list re", ["relay"]),
        ("touchstone show 2026", ["20260102-000000-after", "20260101-000000-before"]),
        ("touchstone explain la", ["last"]),
    ],
)
def test_a_tab_offers_what_there_is(runs: Path, line: str, expected: list[str]) -> None:
    assert offered(runs, line) == expected
