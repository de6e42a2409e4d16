"""The example of docs/library.md runs as it is printed."""

from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

import touchstone
from tests.run.demo import demo
from touchstone.failure import UsageError
from touchstone.plan import plan as plan_module
from touchstone.plan.placement import available_cpus
from touchstone.plan.plan import RunRequest
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.run.measure import RunConditions, measure

PAGE = Path(__file__).resolve().parents[2] / "docs/library.md"


def test_the_example_measures_judges_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo(tmp_path / "my-bench")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {})
    assert "sound/plain" in capsys.readouterr().out
    (folder,) = (tmp_path / "results").iterdir()
    assert (folder / "report.html").stat().st_size > 0


def test_what_the_package_offers_is_there_and_nothing_else() -> None:
    for name in touchstone.__all__:
        assert callable(getattr(touchstone, name))
    with pytest.raises(AttributeError, match="there are: "):
        _ = touchstone.nothing


def test_earlier_names_of_the_package_still_work() -> None:
    assert touchstone.Wish is touchstone.RunRequest
    assert touchstone.Conditions is touchstone.RunConditions


def test_rounds_that_tell_no_more_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    asked: list[int] = []

    def enough(run: Run) -> bool:
        asked.append(max(sample.round or 0 for sample in run.samples))
        return asked[-1] == 3

    conditions = RunConditions(results=tmp_path, enough=enough)
    wish = RunRequest(profile="quick", rounds=5, phases=("boot",))
    store = measure(demo(tmp_path / "my-bench"), wish, stacks=["sound"], conditions=conditions)
    run = load_run(store.folder)
    assert asked == [2, 3]
    assert {sample.round for sample in run.samples if sample.phase == "boot"} == {1, 2, 3}
    assert run.plan.rounds == len(run.plan.orders) == 3
    assert not run.interrupted


def test_rounds_that_take_too_long_are_left_at_four_unless_they_were_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(PROFILES, "quick", dataclasses.replace(PROFILES["quick"], rounds_s=0.01))
    folder = demo(tmp_path / "my-bench")

    def boots(rounds: int | None, results: str) -> Run:
        wish = RunRequest(profile="quick", rounds=rounds, phases=("boot",))
        store = measure(folder, wish, stacks=["sound"], conditions=RunConditions(results=tmp_path / results))
        return load_run(store.folder)

    usual, asked = boots(None, "usual"), boots(5, "asked")
    assert (usual.plan.rounds, asked.plan.rounds) == (4, 5)
    assert {sample.round for sample in usual.samples if sample.phase == "boot"} == {1, 2, 3, 4}
    assert ["`--rounds 5` measures all" in note for note in usual.notes] == [True]
    assert not asked.notes and not usual.interrupted


def test_a_quota_above_a_contender_s_cpus_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    folder, results = demo(tmp_path / "my-bench"), tmp_path / "results"
    quota = float(len(available_cpus()) + 1)
    with pytest.raises(UsageError, match="so this is not a limit"):
        measure(folder, conditions=RunConditions(results=results, cpu_limit=quota))
    assert not results.exists()


def test_runs_that_begin_in_the_same_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(tmp_path / "cache"))
    folder = demo(tmp_path / "my-bench")
    frozen = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    monkeypatch.setattr(plan_module, "datetime", SimpleNamespace(now=lambda _zone: frozen))
    wish, conditions = RunRequest(profile="quick", phases=("verify",)), RunConditions(results=tmp_path / "results")
    stores = [measure(folder, wish, stacks=["sound"], conditions=conditions) for _ in range(2)]
    assert [store.folder.name for store in stores] == ["20260102-030405-demo", "20260102-030405-demo-2"]
    assert load_run(stores[1].folder).plan.run_id == "20260102-030405-demo-2"
