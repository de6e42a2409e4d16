"""`touchstone bundle` and `verify` as a user types them."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests import command
from tests.bundle.doctored import edit, samples
from tests.golden.golden import HERE
from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.pair import Revision, judge_pair
from touchstone.judge.judge import judge
from touchstone.record.store import REVISIONS, load_run


def touchstone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command.touchstone(*words, cwd=folder, env=os.environ | {"NO_COLOR": "1", "COLUMNS": "200"}, within_s=240)


def test_a_bundle_is_made_checked_shown_compared_and_a_forged_one_refused(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with tarfile.open(HERE / "runs/newcomer.tar.xz") as archive:
            archive.extractall(tmp_path / name, filter="data")
        edit(tmp_path / name / "plan.json", lambda plan, name=name: plan.update(run_id=name))  # type: ignore[misc]
        made = touchstone(tmp_path, "bundle", name, "--out", f"{name}.touchstone")
        assert made.returncode == 0 and f"touchstone verify {name}.touchstone" in made.stdout, made.stderr
    checked = touchstone(tmp_path, "verify", "first.touchstone")
    assert checked.returncode == 0, checked.stderr
    assert "every stated verdict, interval and finding follows" in checked.stdout
    compared = touchstone(tmp_path, "compare", "first.touchstone", "second.touchstone")
    assert compared.returncode == 0 and "figures compared" in compared.stdout, compared.stderr
    assert "rust/plain" in touchstone(tmp_path, "show", "first.touchstone").stdout
    path = samples(tmp_path / "first", "go/plain")[0]
    edit(path, lambda sample: sample["figures"].update(throughput=9e9))
    assert touchstone(tmp_path, "bundle", "first", "--out", "forged").returncode == 0
    forged = touchstone(tmp_path, "verify", "forged")
    assert forged.returncode == 4
    assert f"{path.stem}: the figure throughput is 9000000000.0" in forged.stderr


def test_a_run_of_two_revisions_is_not_repeated_and_its_command_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with tarfile.open(HERE / "runs/newcomer.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    edit(folder / "plan.json", lambda plan: plan.update(command=["touchstone", "ab", "main", "--stack", "go"]))
    run = load_run(folder)
    terms = ComparisonTerms(margin=0.03, confidence=0.95, figures={"throughput": None})
    sides = [(name, Revision(name=name, commit=name)) for name in ("go/plain", "rust/plain")]
    judged = judge_pair(run, judge(run), (sides[0], sides[1]), terms, "go/plain")
    (folder / REVISIONS).write_text(judged.model_dump_json(by_alias=True))
    assert touchstone(tmp_path, "bundle", "run", "--out", "bundle").returncode == 0
    done = touchstone(tmp_path, "verify", "bundle", "--minutes", "1")
    assert done.returncode == 2, done.stderr
    assert "every stated verdict, interval and finding follows" in done.stdout
    assert "repeat `touchstone ab main --stack go` in a clone of their repository" in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["verify", "absent"], "is not a bundle"),
        (["verify", "empty"], "is not a bundle"),
        (["verify", "."], "is not a bundle"),
        (["bundle", "absent", "--out", "b"], "there is no run 'absent'"),
        (["bundle", "run", "--out", "."], "it is a folder"),
        (["verify", "bundle", "--scenario", "users"], "--scenario has no effect without --minutes"),
        (["report", "bundle"], "a bundle has no folder"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, words: list[str], problem: str) -> None:
    (tmp_path / "empty").write_bytes(b"")
    with tarfile.open(HERE / "runs/crud.tar.xz") as archive:
        archive.extractall(tmp_path / "run", filter="data")
    if "bundle" in words[1:]:
        assert touchstone(tmp_path, "bundle", "run", "--out", "bundle").returncode == 0
    done = touchstone(tmp_path, *words)
    assert done.returncode == 2, done.stdout
    assert problem in done.stderr
