"""What the commands keep of where they were called."""

from __future__ import annotations

import pytest

from touchstone.cli.places import as_typed


def test_a_command_is_kept_without_the_folder_that_it_lies_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/bin/touchstone", "run", "users", "--quick"])
    assert as_typed() == ("touchstone", "run", "users", "--quick")
