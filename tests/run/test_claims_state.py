"""What `claims --run` takes for measured already."""

from __future__ import annotations

from pathlib import Path

import pytest

from touchstone.judge.claims.wanted import PlannedRun
from touchstone.record.run import Environment
from touchstone.run.claims import ClaimsState
from touchstone.run.fingerprint import fingerprint

STEP = PlannedRun("hello", ("load",), "hundred", ("go/plain", "mote/plain"))


def state_with(root: Path, environment: Environment | None) -> ClaimsState:
    state = ClaimsState(root / "claims.json")
    if environment is not None:
        (root / "made").mkdir()
        (root / "made" / "environment.json").write_text(environment.model_dump_json())
    state.note(STEP, "quick", "done", "made")
    return ClaimsState(root / "claims.json")


def test_a_step_that_was_measured_here_is_done(tmp_path: Path) -> None:
    state = state_with(tmp_path, fingerprint({}))
    assert state.done(STEP, "quick") == "made"
    assert state.done(STEP, "normal") is None
    assert state.done(PlannedRun("hello", ("load",), "hundred", ("go/plain", "rust/plain")), "quick") is None


@pytest.mark.parametrize("change", [{"engine_sha256": "0" * 64}, {"cpu_model": "another"}])
def test_what_another_engine_or_machine_measured_is_measured_again(tmp_path: Path, change: dict[str, str]) -> None:
    # One load of a claim about two would stay with the old engine for good.
    assert state_with(tmp_path, fingerprint({}).model_copy(update=change)).done(STEP, "quick") is None


def test_a_step_whose_run_is_gone_is_not_done(tmp_path: Path) -> None:
    assert state_with(tmp_path, None).done(STEP, "quick") is None
