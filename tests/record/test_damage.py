"""Records that no version writes: each is refused in a sentence that names the run, and no other is harmed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import stored, touchstone
from tests.judge.sound import sound_run
from touchstone.failure import TouchstoneError, UsageError
from touchstone.record.store import load_run
from touchstone.run.claims import ClaimsState
from touchstone.run.load_results import run_of_load_results


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "20260101-000000-one"
    stored(sound_run(), folder)
    return folder


def change(path: Path, edit: Callable[[Any], object]) -> None:
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


DAMAGE: list[tuple[str, Callable[[Any], object]]] = [
    ("state.json", lambda d: d.update(started_at="2026-01-01")),  # without a zone
    ("state.json", lambda d: d.update(started_at=[])),
    ("state.json", lambda d: d.pop("ended_at")),
    ("plan.json", lambda d: d["phases"].append("x")),
    ("plan.json", lambda d: d.update(contenders=None)),
    ("environment.json", lambda d: d.update(tools=[1])),
]


@pytest.mark.parametrize(("name", "edit"), DAMAGE)
def test_a_damaged_record_is_refused_in_words(run: Path, name: str, edit: Callable[[Any], object]) -> None:
    change(run / name, edit)
    with pytest.raises(TouchstoneError) as refused:
        load_run(run)
    assert refused.value.where and str(run) in refused.value.where and refused.value.fix
    assert "Error" not in refused.value.what


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"a":' * 100_000, "\0", "1" * 5000])
@pytest.mark.parametrize("name", ["plan.json", "state.json", "environment.json"])
def test_a_file_that_is_no_record_is_refused_in_words(run: Path, name: str, text: str) -> None:
    (run / name).write_text(text)
    with pytest.raises(TouchstoneError):
        load_run(run)


def test_the_commands_name_a_damaged_run(run: Path) -> None:
    (run / "state.json").write_text("[" * 100_000)
    (run / "report.json").write_text("[" * 100_000)
    shown, listed = touchstone(run.parents[1], "show", "last"), touchstone(run.parents[1], "list", "--runs")
    assert shown.returncode == 1 and "the run is damaged" in shown.stderr
    assert listed.returncode == 0 and "not judged" in listed.stdout


@pytest.mark.parametrize("text", ["[]", '{"steps": ', "{}", "3", "[" * 100_000])
def test_a_state_of_claims_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.json").write_text(text)
    with pytest.raises(TouchstoneError, match=r"claims\.json: it cannot be read"):
        ClaimsState(tmp_path / "claims.json")


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d["job"].update(loop=[]),
        lambda d: d["job"].update(requests=[1]),
        lambda d: d["window"].update(start_unix_s=1e308),
        lambda d: d.update(job=[]),
    ],
)
def test_a_result_of_a_load_with_values_of_another_kind_is_named(tmp_path: Path, edit: Callable[[Any], object]) -> None:
    result = next(sample.result for sample in sound_run().samples if sample.result is not None)
    path = tmp_path / "load.json"
    path.write_text(result.model_dump_json(by_alias=True))
    change(path, edit)
    with pytest.raises(UsageError, match=r"load\.json: no result of a load"):
        run_of_load_results([path])
