"""`touchstone bisect` as a user types it."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_ab import environment, touchstone
from tests.command import COMMAND
from tests.revisions.repository import COMMENTED, DEARER, commit, git, repository, twelve_commits

DOES_NOT_BUILD = 'build = [["python3", "-c", "import nothing"]]'


def five_commits(tmp_path: Path) -> tuple[Path, list[str]]:
    top = repository(tmp_path / "repo")
    for number in range(4):
        commit(top, f"# {number}\n{COMMENTED}", f"Version {number}")
    return top, git(top, "rev-list", "--reverse", "HEAD").split()


def remember(top: Path, commits: list[str], sides: dict[int, str], asked: tuple[str, ...] = ("0.03", "", "")) -> None:
    """What a search between the first and the last commit would know after steps to some of them."""
    good, bad = commits[0], commits[-1]
    known: dict[str, Any] = {
        "good": good,
        "bad": bad,
        "figure": "cpu_per_request",
        "asked": list(asked),
        "load": "ping",
        "effect": 1.05,
        "steps": [{"commit": commits[at], "subject": f"step {at}", "side": side} for at, side in sides.items()],
    }
    (top / "results").mkdir(exist_ok=True)
    (top / f"results/bisect-{good[:10]}-{bad[:10]}-cpu_per_request.json").write_text(json.dumps(known))


def test_a_search_goes_on_with_what_it_knew(tmp_path: Path) -> None:
    top, commits = five_commits(tmp_path)
    remember(top, commits, {2: "good", 3: "bad"})
    done = touchstone(tmp_path, "bisect", commits[0], commits[-1])
    assert done.returncode == 0, done.stderr
    assert f"the first bad commit is {commits[3]}" in done.stdout
    remember(top, commits, {2: "bad", 1: "bad"})
    document = json.loads(touchstone(tmp_path, "bisect", commits[0], "HEAD", "--json").stdout)
    assert document["first_bad"]["commit"] == commits[1]
    assert len(git(top, "worktree", "list").splitlines()) == 1


def test_a_commit_that_does_not_build_is_skipped_and_stays_a_candidate(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    manifest = top / "bench/sound/stack.toml"
    sound = manifest.read_text()
    for number, text in enumerate((sound, sound.replace("build = []", DOES_NOT_BUILD), sound)):
        manifest.write_text(text)
        commit(top, f"# {number}\n{COMMENTED}", f"Version {number}")
    commits = git(top, "rev-list", "--reverse", "HEAD").split()
    remember(top, commits, {1: "good", 2: "skip"})
    done = touchstone(tmp_path, "bisect", commits[0], commits[-1])
    assert done.returncode == 5, done.stderr
    assert f"{commits[2][:10]} skip Version 1: head/plain failed: build" in done.stdout
    told = done.stdout.partition("it is one of these")[2]
    assert commits[2] in told and commits[3] in told and commits[1] not in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["absent"], "there is no revision 'absent'"),
        (["HEAD", "HEAD~1"], "is not an ancestor of"),
        (["HEAD~1", "--figure", "througput"], "did you mean 'throughput'"),
        (["HEAD~1", "--scenario", "absent"], "there is no scenario 'absent'"),
        (["HEAD~1", "--load", "absent"], "has no load 'absent'"),
    ],
)
def test_bad_input_is_named_before_anything_is_measured(tmp_path: Path, words: list[str], said: str) -> None:
    five_commits(tmp_path)
    done = touchstone(tmp_path, "bisect", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert not (tmp_path / "repo/results").exists()


def test_a_good_revision_that_does_not_build_ends_the_search(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    manifest = top / "bench/sound/stack.toml"
    sound = manifest.read_text()
    for number, text in enumerate((sound.replace("build = []", DOES_NOT_BUILD), sound)):
        manifest.write_text(text)
        commit(top, f"# {number}\n{COMMENTED}", f"Version {number}")
    done = touchstone(tmp_path, "bisect", "HEAD~1")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "base/plain failed: build" in done.stderr


@pytest.mark.slow
def test_the_dearer_one_of_twelve_is_named_though_the_search_is_interrupted(tmp_path: Path) -> None:
    commits = twelve_commits(tmp_path / "repo", dearer=0.5)
    words = ["bisect", commits[0], commits[-1], "--minutes", "3"]
    search = subprocess.Popen(
        [*COMMAND, *words], cwd=tmp_path / "repo", env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    )
    assert search.stdout is not None
    first = next(line for line in search.stdout if line[:10] in {one[:10] for one in commits})
    search.send_signal(signal.SIGINT)
    search.communicate(timeout=120)
    assert search.returncode == 130
    (memory,) = (tmp_path / "repo/results").glob("bisect-*.json")
    known = json.loads(memory.read_text())["steps"]
    assert [step["commit"][:10] for step in known] == [first[:10]]
    done = touchstone(tmp_path, *words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["first_bad"]["commit"] == commits[DEARER - 1]
    assert document["search"]["steps"][0]["run"] == known[0]["run"], "it was not measured again"
