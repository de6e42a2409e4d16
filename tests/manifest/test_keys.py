"""The reference of the manifests: every table with its keys, as the types have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.test_commands import touchstone
from touchstone.failure import UsageError
from touchstone.manifest import keys_page
from touchstone.manifest.claim import RatioTest
from touchstone.manifest.contract import Act, Send, Wait
from touchstone.manifest.exchange import Expectation, MessageRequest
from touchstone.manifest.keys import ManifestKey, find, tables
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stack import Install, Stack, Variant
from touchstone.manifest.stream import EventExpectation

PAGE = Path(__file__).parents[2] / "docs/manifests.md"


def key(model: type, name: str) -> ManifestKey:
    return next(key for key in tables()[model].keys if key.name == name)


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == keys_page.page(), (
        "docs/manifests.md is old: run `python -m touchstone.manifest.keys_page > docs/manifests.md`"
    )


@pytest.mark.parametrize(
    ("model", "name", "takes", "default"),
    [
        (Load, "title", "text", ""),
        (Load, "loop", '`"closed"`, `"open"`, `"steps"` or `"ramp"`', '"closed"'),
        (Load, "connections", "whole number, at least 1", "64"),
        (Load, "rate", "number, above 0", ""),
        (Load, "error_allowance", "number, at least 0, below 1", "0"),
        (Load, "keepalive", "boolean", "true"),
        (Load, "profiles", 'list of `"quick"`, `"normal"` or `"thorough"`', '["quick", "normal", "thorough"]'),
        (Load, "prepare", "list of tables", "[]"),
        (Expectation, "status", "whole number or list of whole numbers", "200"),
        (Expectation, "json", "table of values, or `{ type = ... }`", ""),
        (MessageRequest, "body", "text with placeholders", ""),
        (Scenario, "schema", "`1`", ""),
        (Scenario, "settings", "table of texts, whole numbers or booleans", "{}"),
        (Scenario, "loads", "table of tables, not empty", ""),
        (Variant, "run", "command (list of words: a program and its arguments)", ""),
        (Install, "commands", "list of commands (each a list of words), not empty", ""),
        (Stack, "sources", "list of texts", '["**/*"]'),
    ],
)
def test_a_key_is_said_in_words(model: type, name: str, takes: str, default: str) -> None:
    assert (key(model, name).type, key(model, name).default) == (takes, default)


def test_what_must_be_given_comes_first() -> None:
    names = [key.name for key in tables()[Load].keys]
    assert names[0] == "title"
    assert [key.name for key in tables()[Load].keys if key.required] == ["title"]
    assert "folder" not in [key.name for key in tables()[Stack].keys]


def test_no_key_is_told_by_a_bare_pattern() -> None:
    told = {f"{table.title}.{key.name}": key.type for table in tables().values() for key in table.keys}
    assert not {name: words for name, words in told.items() if "like `" in words}


@pytest.mark.parametrize(
    ("asked", "models"),
    [
        ("scenario.toml", [Scenario]),
        ("[loads.NAME]", [Load]),
        ("loads.ping", [Load]),
        ("contract.0.steps", [Send, Act, Wait]),
        ("hold.request", [MessageRequest]),
        ("expect", [Expectation, EventExpectation]),
        ("variants.plain.install", [Install]),
        ("loads.ping.timeout_s", [Load]),
        ("settings", [Scenario]),
    ],
)
def test_a_table_is_found_by_its_name(asked: str, models: Sequence[type]) -> None:
    assert [table.model for table in find(asked)] == models


@pytest.mark.parametrize("asked", ["load.NAME", "lodas"])
def test_a_table_that_there_is_not_is_refused_with_what_is_near(asked: str) -> None:
    with pytest.raises(UsageError, match=r"did you mean 'loads\.NAME'"):
        find(asked)


def test_kinds_of_one_table_are_told_apart() -> None:
    titles = {table.title for table in find("claims.test")}
    assert "[claims.test] ratio" in titles
    assert len(titles) == len(find("claims.test")) > 1
    assert tables()[RatioTest].places[1].name == "claims.explained_by.test"


def test_the_command_lists_one_table_or_all(tmp_path: Path) -> None:
    one = touchstone(tmp_path, "check", "--keys", "loads.ping")
    assert one.returncode == 0
    assert one.stdout.startswith("[loads.NAME]   in scenario.toml\n")
    assert "  title (must be given): text\n      Its title in the report.\n" in one.stdout
    assert "  connections = 64: whole number, at least 1\n" in one.stdout
    everything = touchstone(tmp_path, "check", "--keys").stdout
    assert one.stdout in everything
    assert all(table.title in everything for table in tables().values())
    assert touchstone(tmp_path, "check", "--keys", "lodas").returncode == 2
