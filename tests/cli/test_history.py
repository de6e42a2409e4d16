"""`touchstone history` and `touchstone bisect` as a user types them, without measuring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_ab import touchstone
from tests.history.entries import history
from tests.revisions.repository import COMMENTED, commit, git, repository
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["history", "record", "absent"], "there is no run 'absent'"),
        (["history", "record", "--ab"], "there is no run of two revisions"),
        (["history", "export", "influx"], "one of: bencher"),
        (["history", "show", "--figure", "througput"], "did you mean 'throughput'"),
        (["history", "show", "--figure", "throughput"], "no entry of that"),
        (["history", "show", "--store", "absent.jsonl"], "history record"),
        (["bisect", "absent"], "there is no revision 'absent'"),
        (["bisect", "HEAD", "HEAD~1"], "is no ancestor of"),
        (["bisect", "HEAD~1", "--figure", "througput"], "did you mean 'throughput'"),
        (["bisect", "HEAD~1", "--scenario", "absent"], "there is no scenario 'absent'"),
    ],
)
def test_bad_input_is_named(tmp_path: Path, words: list[str], said: str) -> None:
    top = with_history(tmp_path)
    commit(top, COMMENTED, "Comments")
    done = touchstone(tmp_path, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr


def test_a_bisection_goes_on_where_it_was(tmp_path: Path) -> None:
    """All was measured before it was interrupted: what is on disk names the commit."""
    top = repository(tmp_path / "repo")
    for number in range(4):
        commit(top, f"# {number}\n{COMMENTED}", f"Version {number}")
    good, bad = git(top, "rev-parse", "HEAD~4"), git(top, "rev-parse", "HEAD")
    steps = [("HEAD~2", "good"), ("HEAD~1", "bad")]
    known = {
        "good": good,
        "bad": bad,
        "figure": "cpu_per_request",
        "asked": ["0.03", "", ""],
        "load": "ping",
        "effect": 1.05,
        "steps": [{"commit": git(top, "rev-parse", name), "subject": "", "side": side} for name, side in steps],
    }
    (top / "results").mkdir()
    (top / f"results/bisect-{good[:10]}-{bad[:10]}-cpu_per_request.json").write_text(json.dumps(known))
    done = touchstone(tmp_path, "bisect", good, bad, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["first_bad"]["commit"] == git(top, "rev-parse", "HEAD~1")
