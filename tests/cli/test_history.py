"""`touchstone history` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_ab import touchstone
from tests.cli.test_commands import stored
from tests.history.entries import history
from tests.judge.sound import sound_run
from tests.revisions.repository import DEARER, repository, twelve_commits
from touchstone.history import store


def with_history(tmp_path: Path) -> Path:
    top = repository(tmp_path / "repo")
    store.append(top / "touchstone-history.jsonl", history(dearer_from=7, kernel_from=10))
    return top


def test_a_history_is_shown_with_its_change_and_its_break_and_drawn(tmp_path: Path) -> None:
    top = with_history(tmp_path)
    assert touchstone(tmp_path, "toolchain", "otava").returncode == 0
    done = touchstone(tmp_path, "history", "show")
    assert done.returncode == 0, done.stderr
    assert "CPU per request of sound/plain, ping: worse by" in done.stdout
    assert "Version 7" in done.stdout
    assert "break before 0000000000: kernel: 6.1.0 to 6.6.2" in done.stdout
    page = (top / "touchstone-history.html").read_text()
    assert "<svg" in page and "worse by" in page and "http" not in page.replace("http://www.w3.org", "")
    (series,) = json.loads(touchstone(tmp_path, "history", "show", "--json").stdout)["series"]
    assert (len(series["changes"]), len(series["breaks"])) == (1, 1)


def test_without_otava_it_says_how_to_get_it(tmp_path: Path) -> None:
    with_history(tmp_path)
    done = touchstone(tmp_path, "history", "show")
    assert done.returncode == 1
    assert "touchstone toolchain otava" in done.stderr
    assert touchstone(tmp_path, "history", "show", "--no-changes").returncode == 0


def test_a_history_that_has_just_begun_is_shown_without_otava(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    store.append(top / "touchstone-history.jsonl", history()[:1])
    done = touchstone(tmp_path, "history", "show")
    assert done.returncode == 0, done.stderr
    assert "CPU per request" in done.stdout


def test_a_run_that_is_named_is_the_one_that_is_recorded(tmp_path: Path) -> None:
    repository(tmp_path / "repo")
    stored(sound_run(), tmp_path / "repo/results/20260101-000000-users")
    done = touchstone(tmp_path, "history", "record", "20260101-000000-users", "--ab")
    assert done.returncode == 2
    assert "20260101-000000-users: this is not a run of `touchstone ab`" in done.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["history", "record", "absent"], "there is no run 'absent'"),
        (["history", "record", "absent", "--ab"], "there is no run 'absent'"),
        (["history", "record", "--ab"], "there is no run of two revisions"),
        (["history", "export", "influx"], "one of: bencher"),
        (["history", "show", "--figure", "througput"], "did you mean 'throughput'"),
        (["history", "show", "--figure", "throughput"], "no entry of that"),
        (["history", "show", "--store", "absent.jsonl"], "history record"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, words: list[str], said: str) -> None:
    with_history(tmp_path)
    done = touchstone(tmp_path, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr


@pytest.mark.slow
def test_over_twelve_commits_the_dearer_one_is_marked_once_and_another_kernel_is_a_break(tmp_path: Path) -> None:
    commits = twelve_commits(tmp_path / "repo", dearer=0.4)
    words = ["--figure", "cpu_per_request", "--minutes", "0.1", "--allow-undecided"]
    for number, commit in enumerate(commits):
        run = f"results/run-{number:02}"
        done = touchstone(tmp_path, "ab", commits[0], commit, "--out", run, *words)
        assert done.returncode in (0, 3), done.stdout + done.stderr
        if number >= 10:
            path = tmp_path / "repo" / run / "environment.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | {"kernel": "7.0.0"}))
        recorded = touchstone(tmp_path, "history", "record", run)
        assert recorded.returncode == 0, recorded.stderr
    assert touchstone(tmp_path, "toolchain", "otava").returncode == 0
    shown = touchstone(tmp_path, "history", "show", "--figure", "cpu_per_request", "--json")
    (series,) = json.loads(shown.stdout)["series"]
    ((change,), (broken,)) = series["changes"], series["breaks"]
    assert [one["commit"] for one in change["commits"]] == [commits[DEARER - 1]]
    assert change["worse"] and change["share"] > 0.05
    assert broken["until"] == commits[10] and broken["differences"][0].startswith("kernel:")


def test_what_an_export_leaves_out_is_named_apart_from_the_document(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    second = [entry.model_copy(update={"figure": "throughput"}) for entry in history()[1:]]
    store.append(top / "touchstone-history.jsonl", [*history(), *second])
    done = touchstone(tmp_path, "history", "export", "otava-csv")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 12
    assert done.stderr == "left out: run run-00 has no demo_sound_plain_ping_throughput\n"
