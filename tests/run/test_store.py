"""A run comes back from disk as it was written, and a broken file is named."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from touchstone.failure import UsageError
from touchstone.record.run import Environment, Plan
from touchstone.record.sample import Sample
from touchstone.record.store import RunStore, StoreError, load_run, new_run_folder


def opened(folder: Path) -> RunStore:
    store = RunStore(folder)
    plan = Plan(
        run_id="r", scenario="s", scenario_version=1, scenario_title="S", profile="quick", phases=["load"], loads=["l"],
        rounds=1, seed=1, orders=[["a/b"]], contenders=[],
    )  # fmt: skip
    store.open(plan, Environment(cpus=2))
    return store


def sample(store: RunStore) -> Sample:
    identity = store.next_id("load", "a/b", "l", 1)
    return Sample(
        id=identity, phase="load", scenario="s", contender="a/b", load="l", round=1, started_at=datetime.now(UTC),
        figures={"throughput": 1234.5},
    )  # fmt: skip


def test_a_run_comes_back_as_it_was_written(tmp_path: Path) -> None:
    store = opened(tmp_path / "run")
    written = sample(store)
    store.add(written)
    store.write_state(ended=True)
    run = load_run(tmp_path / "run")
    assert run.samples == [written]
    assert written.id == "0001-load-a.b-l-r01"
    assert not run.interrupted


def test_a_run_that_was_cut_off_counts_as_interrupted(tmp_path: Path) -> None:
    opened(tmp_path / "run")
    assert load_run(tmp_path / "run").interrupted


def test_an_earlier_run_is_never_written_over(tmp_path: Path) -> None:
    opened(tmp_path / "run")
    with pytest.raises(StoreError, match="holds a run already"):
        opened(tmp_path / "run")


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    store = opened(tmp_path / "run")
    store.add(sample(store))
    path = next((tmp_path / "run" / "samples").iterdir())
    path.write_text("{")
    with pytest.raises(StoreError, match=path.name):
        load_run(tmp_path / "run")


@pytest.mark.parametrize("name", ["../elsewhere", "/elsewhere", "..", ""])
@pytest.mark.parametrize("key", ["run_id", "scenario"])
def test_a_name_that_leads_elsewhere_is_damage(tmp_path: Path, key: str, name: str) -> None:
    opened(tmp_path).write_state(ended=True)
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(json.loads(plan.read_text(encoding="utf-8")) | {key: name}), encoding="utf-8")
    with pytest.raises(StoreError, match="not a name of a run"):
        load_run(tmp_path)


def test_a_folder_without_a_run_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run"):
        load_run(tmp_path)


def test_an_unknown_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such figure"):
        sample(RunStore(tmp_path)).model_copy().model_validate(
            {**sample(RunStore(tmp_path)).model_dump(), "figures": {"speed": 1.0}}
        )


def test_a_run_whose_name_is_taken_gets_a_number(tmp_path: Path) -> None:
    results = tmp_path / "deep/results"
    assert [new_run_folder(results, "r").name for _ in range(3)] == ["r", "r-2", "r-3"]
    (results / "s").touch()
    assert new_run_folder(results, "s").name == "s-2", "a file has the name"


def test_a_place_where_no_run_can_be_kept_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere/at/all")
    for place in ("file", "gone", "file/below"):
        with pytest.raises(StoreError, match="it cannot be written") as refused:
            new_run_folder(tmp_path / place, "r")
        assert str(tmp_path / place) in (refused.value.where or "")
