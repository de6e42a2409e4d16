"""Errors in a program as a dependency, and in variables, are reported before anything is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.check.test_check import SCENARIO
from tests.manifest.test_reader import STACK, written
from touchstone.check.folder import check_folder, refuse_problems
from touchstone.manifest.catalogue import ScenarioFolder, read_scenario_folder
from touchstone.manifest.reader import ManifestError

PAGE = Path(__file__).parents[2] / "docs" / "dependencies.md"
CACHE = """
[dependencies.cache]
kind = "process"
env = "CACHE_URL"
variables = { CACHE_PORT = "{port}" }
[dependencies.cache.settings]
run = ["sh", "{scenario}/cache.sh", "{port}"]
address = "cache://{host}:{port}/0"
prepare = [["true"], ["./cache.sh", "{folder}"]]
ask = ["sh", "-c", "echo {query}"]
ready_s = 5

[[contract]]
"""
SETTINGS = "dependencies.cache.settings."


def told(tmp_path: Path, *changes: tuple[str, str], stack: str = STACK) -> str:
    """All problems of the scenario with the cache and these changes."""
    return "\n".join(map(str, check_folder(changed(tmp_path, *changes, stack=stack))))


def changed(tmp_path: Path, *changes: tuple[str, str], stack: str = STACK) -> ScenarioFolder:
    text = SCENARIO.replace("[[contract]]\n", CACHE.lstrip(), 1)
    for change in changes:
        assert change[0] in text
        text = text.replace(*change, 1)
    folder = written(tmp_path / "demo", text, stack)
    (folder / "one" / "server.py").write_text("pass")
    (folder / "cache.sh").write_text("#!/bin/sh\n")
    (folder / "cache.sh").chmod(0o755)
    (folder / "notes.txt").touch()
    return read_scenario_folder(folder)


def test_a_sound_program_has_no_problem(tmp_path: Path) -> None:
    assert told(tmp_path) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('run = ["sh"', 'run = ["redis-serve"'), [f"{SETTINGS}run: there is no program 'redis-serve': install it"]),
        (('run = ["sh"', 'run = ["cache.sh"'), ["no program 'cache.sh'", "write ./cache.sh for the one next to"]),
        (('["./cache.sh"', '["./cash.sh"'), [f"{SETTINGS}prepare: there is no program", "demo/cash.sh: correct"]),
        (('["./cache.sh"', '["./notes.txt"'), [f"{SETTINGS}prepare", "notes.txt may not be executed"]),
        (("{scenario}/cache.sh", "{scenario}/cash.sh"), [f"{SETTINGS}run: there is no ", "demo/cash.sh"]),
        (("{scenario}/cache.sh", "./cache.sh"), ["the command runs in a folder of its own: write {scenario}/cache.sh"]),
        (('"{port}"]\naddress', '"{porto}"]\naddress'), ["{porto} is not a place here; there are: {port}, {host}"]),
        (('"{port}"]\naddress', '"7000"]\naddress'), [f"{SETTINGS}run", "no word of it holds {port}"]),
        (('run = ["sh"', "run = [7"), [f"{SETTINGS}run", "is not a command"]),
        (('run = ["sh", "{scenario}/cache.sh", "{port}"]', "run = []"), [f"{SETTINGS}run: [] is not a command"]),
        (('prepare = [["true"], ["./cache.sh", "{folder}"]]', 'prepare = ["true"]'), ["'true' is not a command"]),
        (('prepare = [["true"], ["./cache.sh", "{folder}"]]', "prepare = 1"), [f"{SETTINGS}prepare: 1 is not a list"]),
        (("echo {query}", "echo"), [f"{SETTINGS}ask", "no word of it holds {query}"]),
        (('"{folder}"]]', '"{query}"]]'), [f"{SETTINGS}prepare: {{query}} is not a place"]),
        (("{host}:{port}/0", "{host}/0"), [f"{SETTINGS}address", "does not hold {port}"]),
        (("{host}:{port}/0", "{folder}:{port}"), [f"{SETTINGS}address: {{folder}} is not a place"]),
        (('"cache://{host}:{port}/0"', "7"), [f"{SETTINGS}address: 7 is not text"]),
        (("ready_s = 5", "ready_s = 0"), [f"{SETTINGS}ready_s: 0 is not a number of seconds"]),
        (("ready_s = 5", "ready_s = true"), [f"{SETTINGS}ready_s: True"]),
        (("ready_s = 5", "redy_s = 5"), ["no setting 'redy_s'; there are: run, address, prepare, ask, ready_s"]),
        (
            ('run = ["sh", "{scenario}/cache.sh", "{port}"]', ""),
            [f"{SETTINGS}address: without `run` touchstone starts"],
        ),
    ],
)
def test_a_program_that_would_not_start(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    found = told(tmp_path, change)
    for part in ["scenario.toml:", "do: see docs/dependencies.md", *said]:
        assert part in found


def test_one_that_runs_already_needs_host_and_port_and_no_folder(tmp_path: Path) -> None:
    run = ('run = ["sh", "{scenario}/cache.sh", "{port}"]', "")
    address = ("cache://{host}:{port}/0", "cache://127.0.0.1:7000/0")
    found = told(tmp_path, run, address)
    assert "{folder} is not a place here; there are: {host}, {port}, {scenario}" in found
    assert told(tmp_path, run, address, ('"{folder}"]]', '"{port}"]]')) == ""
    nowhere = told(tmp_path, run, ("cache://{host}:{port}/0", "cache"), ('"{folder}"]]', '"{port}"]]'))
    assert "'cache' does not name host and port" in nowhere
    neither = told(tmp_path, run, ('address = "cache://{host}:{port}/0"\n', ""))
    assert "write the command that starts the program, or the `address` of one that runs already" in neither


def test_a_run_that_starts_no_stack_needs_no_program(tmp_path: Path) -> None:
    folder = changed(tmp_path, ('run = ["sh"', 'run = ["redis-serve"'))
    refuse_problems(folder, {"staging"})
    with pytest.raises(ManifestError, match="redis-serve"):
        refuse_problems(folder, {"staging", "one"})


def test_a_question_needs_a_command_that_answers_it(tmp_path: Path) -> None:
    question = ('{ says = "one row", dependency = "database"', '{ says = "one row", dependency = "cache"')
    assert told(tmp_path, question) == ""
    unanswered = told(tmp_path, question, ('ask = ["sh", "-c", "echo {query}"]\n', ""))
    assert "contract[0].proofs[0].query: the dependency has no `ask`" in unanswered


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("CACHE_PORT =", "POOL ="), ["cache.variables.POOL: POOL is given by [settings], too"]),
        (("CACHE_PORT =", "PORT ="), ["cache.variables.PORT: PORT is given by touchstone, too"]),
        (("CACHE_PORT =", "CACHE_URL ="), ["cache.variables.CACHE_URL", "by dependency cache, too"]),
        (("CACHE_PORT =", "DATABASE_PATH ="), ["variables.DATABASE_PATH", "by dependency database, too"]),
        (
            ('CACHE_PORT = "{port}"', 'CACHE_PATH = "{path}"'),
            ["cache.variables.CACHE_PATH: {path} is not a place here; there are: {address}, {url}, {host}, {port}"],
        ),
        (
            ('env = "DATABASE_PATH"', 'env = "DATABASE_PATH"\nvariables = { URL = "jdbc:sqlite:{url}" }'),
            ["database.variables.URL: {url} is not a place here; there are: {path}"],
        ),
    ],
)
def test_a_variable_that_somebody_else_gives_or_that_has_no_value(
    tmp_path: Path, change: tuple[str, str], said: list[str]
) -> None:
    found = told(tmp_path, change)
    for part in ["scenario.toml:", "do: ", *said]:
        assert part in found


def test_a_variable_that_a_stack_would_set_without_effect(tmp_path: Path) -> None:
    stack = STACK.replace('title = "plain"', 'title = "plain"\nenv = { CACHE_PORT = "1" }')
    found = told(tmp_path, stack=stack)
    assert "variants.plain.env.CACHE_PORT: dependency cache gives CACHE_PORT, equal for all" in found


def test_an_unknown_kind_is_told_the_way_to_any_program(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"no kind of dependency 'redis'.*write kind = \"process\""):
        told(tmp_path, ('kind = "process"', 'kind = "redis"'))


def test_the_examples_of_the_page_lack_nothing_but_their_programs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```toml\n(\[dependencies\..*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    for number, block in enumerate(blocks):
        text = SCENARIO.replace(
            "[[contract]]\n", f"{block.replace('dependencies.database', 'dependencies.db')}\n[[contract]]\n", 1
        )
        folder = written(tmp_path / f"demo-{number}", text)
        (folder / "one" / "server.py").write_text("pass")
        (folder / "prices.py").touch()
        for problem in check_folder(read_scenario_folder(folder)):
            assert "there is no program" in problem.what
