"""What the commands keep of where they were called."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.cli.places import as_typed, usual_scenario
from touchstone.failure import UsageError


def test_a_command_is_kept_without_the_folder_that_it_lies_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/touchstone", "run", "users", "--quick"])
    assert as_typed() == ("touchstone", "run", "users", "--quick")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], "users"),
        (["scenario.toml", "other/scenario.toml"], "."),
        (["notes/scenario.toml"], "notes"),
        (["scenarios/notes/scenario.toml"], "notes"),
        (["scenarios/users/scenario.toml", "scenarios/crud/scenario.toml"], "users"),
        (["scenarios/users/scenario.toml", "notes/scenario.toml"], "notes"),
    ],
)
def test_the_scenario_that_is_meant_is_the_only_one_here(
    files: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lay(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOUCHSTONE_SCENARIOS", raising=False)
    assert usual_scenario() == expected


def test_of_several_scenarios_one_is_to_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _lay(tmp_path, ["notes/scenario.toml", "orders/scenario.toml"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as raised:
        usual_scenario()
    assert "notes, orders" in str(raised.value.fix)


def _lay(folder: Path, files: list[str]) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
