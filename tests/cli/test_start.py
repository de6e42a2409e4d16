"""A command that answers at once loads no library that it does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from touchstone.cli.commands import COMMANDS, load_command

HEAVY = {"matplotlib", "scipy.stats", "scipy.signal", "ruptures", "confluent_kafka", "psycopg", "jinja2"}


def loaded(*words: str) -> set[str]:
    code = (
        "import sys\nfrom touchstone.cli.main import main\n"
        f"sys.argv = ['touchstone', *{words!r}]\n"
        "try:\n    main()\nfinally:\n    print(*sorted(sys.modules), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_begins_the_commands_own_help(name: str) -> None:
    assert (load_command(name).help or "").startswith(COMMANDS[name].summary)


def test_the_help_loads_no_command() -> None:
    seen = loaded("--help")
    assert not seen & {f"touchstone.cli.{outline.module}_command" for outline in COMMANDS.values()}
    assert not seen & (HEAVY | {"numpy", "pydantic"})


@pytest.mark.parametrize("words", [("list", "--runs"), ("explain", "--help")])
def test_a_light_command_loads_no_heavy_library(words: tuple[str, ...]) -> None:
    assert not loaded(*words) & HEAVY
