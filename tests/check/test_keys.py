"""Requests that are made of a key, and expectations that take the response to any other key as well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.check.keys import check_keys
from touchstone.manifest.catalogue import read_scenario_folder

from .broken_manifests import SCENARIO, STACK

_KEY = "{key:1..500}"
_EXPECT_STATUS = "expect = { status = 200 }"


def _scenario(target: str, expect: str, *, more: str = "", rows: str = "") -> str:
    """A scenario with one load of one request."""
    head, _, _ = SCENARIO.partition("[loads.ping]")
    request = f'{{ target = "{target}", {more}{expect} }}'
    return f'{head}[loads.users]\ntitle = "Users"\n{rows}\nrequests = [{request}]\n'


def _folder(tmp_path: Path, scenario: str) -> Path:
    folder = tmp_path / "demo"
    (folder / "one").mkdir(parents=True)
    (folder / "scenario.toml").write_text(scenario)
    (folder / "one" / "stack.toml").write_text(STACK)
    (folder / "one" / "server.py").write_text("pass")
    return folder


def _found(tmp_path: Path, scenario: str) -> list[str]:
    folder = _folder(tmp_path, scenario)
    (folder / "ids.csv").write_text("id,name\n1,Ada\n")
    return [str(one) for one in check_keys(folder / "scenario.toml", read_scenario_folder(folder).scenario)]


@pytest.mark.parametrize(
    ("target", "expect", "rows"),
    [
        (f"/users/{_KEY}", _EXPECT_STATUS, ""),
        (f"/users/{_KEY}", 'expect = { pattern = "Hello .*" }', ""),
        (f"/users/{_KEY}", 'expect = { json = { id = { type = "integer" } } }', ""),
        (f"/users/{_KEY}", 'expect = { body = "Hello {key:1..9}" }', ""),
        ("/users/{row.id}", _EXPECT_STATUS, 'rows = "ids.csv"'),
    ],
)
def test_an_expectation_that_takes_any_key_is_shown(tmp_path: Path, target: str, expect: str, rows: str) -> None:
    (found,) = _found(tmp_path, _scenario(target, expect, rows=rows))
    assert "loads.users.requests[0].expect" in found and "the response to any other key passes" in found


@pytest.mark.parametrize(
    ("target", "expect", "more", "rows"),
    [
        (f"/users/{_KEY}", f'expect = {{ body = "Hello {_KEY}" }}', "", ""),
        (f"/users/{_KEY}", f'expect = {{ json = {{ name = "user {_KEY}" }} }}', "", ""),
        ("/users/{row.id}", 'expect = { body = "Hello {row.name}" }', "", 'rows = "ids.csv"'),
        (f"/users/{_KEY}", "expect = { status = 204 }", 'method = "DELETE", ', ""),
        (f"/users/{_KEY}", "expect = { status = 404 }", "", ""),
        (f"/users/{_KEY}", _EXPECT_STATUS, 'method = "HEAD", ', ""),
        ("/ping?{counter}", _EXPECT_STATUS, "", ""),
        ("/ping", _EXPECT_STATUS, "", ""),
    ],
)
def test_an_expectation_of_the_key_or_a_request_without_one(
    tmp_path: Path, target: str, expect: str, more: str, rows: str
) -> None:
    assert _found(tmp_path, _scenario(target, expect, more=more, rows=rows)) == []


def test_the_command_shows_it_and_ends_well(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _scenario(f"/users/{_KEY}", _EXPECT_STATUS))
    words = [sys.executable, "-m", "touchstone.cli.main", "check", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the response to any other key passes" in done.stdout and "nothing wrong" in done.stdout
