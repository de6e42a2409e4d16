"""What `touchstone new` writes passes its contract at once, in every language whose tools are there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run.test_end_to_end import touchstone
from touchstone.cli.new_command import KINDS
from touchstone.manifest.catalogue import read_scenario_folder, select_contenders
from touchstone.plan.plan import find_tools


def test_the_kinds_that_people_ask_for_are_there() -> None:
    assert {"node", "python", "go", "rust", "java", "dotnet"} <= {*KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_stack_passes_its_contract(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    assert touchstone(tmp_path, "new", "mine", "--stack", kind).returncode == 0
    if isinstance(missing := find_tools(select_contenders(read_scenario_folder(tmp_path / "mine"), [])[0]), str):
        pytest.skip(missing)
    done = touchstone(tmp_path, "run", "mine", "--quick", "--phase", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    (verified,) = (json.loads(p.read_text()) for p in (tmp_path / "results").glob("*/samples/*-verify-*.json"))
    assert [check["id"] for check in verified["checks"] if check["passed"]] == ["ping", "unknown-path", "load-ping"]
    assert verified["process"]["stopped"] in {"exited with code 0", "exited with code 143", "ended by SIGTERM"}
