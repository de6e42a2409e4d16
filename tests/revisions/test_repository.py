"""What is asked of git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.revisions.repository import COMMENTED, commit, git, repository
from tests.run.demo import SERVER
from touchstone.failure import UsageError
from touchstone.revisions.contenders import scenario_place, two_stacks
from touchstone.revisions.repository import Repository


def test_a_revision_is_found_by_any_name(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, COMMENTED, "Comments")
    asked = Repository.around(top / "bench")
    assert asked.revision("main").commit == asked.revision("HEAD").commit == git(top, "rev-parse", "HEAD")
    assert asked.revision("HEAD~1").subject == "A service"
    assert not asked.revision("HEAD").dirty


def test_changes_that_are_not_committed_count_and_nothing_of_the_tree_is_touched(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    asked = Repository.around(top)
    results = top / "results"
    results.mkdir()
    (results / "run.json").write_text("{}")
    assert not asked.working_tree(results).dirty, "results are not a change of the service"
    (top / "bench/sound/server.py").write_text(COMMENTED)
    (top / "bench/sound/more.py").write_text("")
    before = git(top, "status", "--porcelain")
    snapshot = asked.working_tree(results)
    assert snapshot.dirty and "not committed" in snapshot.words
    with asked.checked_out([asked.revision("HEAD"), snapshot]) as (base, head):
        assert (base / "bench/sound/server.py").read_text() == SERVER
        assert (head / "bench/sound/server.py").read_text() == COMMENTED
        assert (head / "bench/sound/more.py").exists()
        assert not (head / "results").exists()
    assert git(top, "status", "--porcelain") == before
    assert len(git(top, "worktree", "list").splitlines()) == 1
    assert not base.exists()


def test_submodules_are_those_of_each_revision_and_one_that_is_not_here_is_named(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "--quiet", "--initial-branch", "main")
    (library / "answer.py").write_text("ANSWER = 1\n")
    git(library, "add", ".")
    git(library, "commit", "--quiet", "-m", "One")
    top = repository(tmp_path / "repo")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "bench/library")
    git(top, "commit", "--quiet", "-m", "Bring it in")
    clone = top / "bench/library"
    (clone / "answer.py").write_text("ANSWER = 2\n")
    git(clone, "commit", "--quiet", "--all", "-m", "Two")
    git(top, "commit", "--quiet", "--all", "-m", "Move it")
    asked = Repository.around(top)
    both = [asked.revision("HEAD~1"), asked.revision("HEAD")]
    assert asked.absent_submodules(both) == []
    with asked.checked_out(both) as (base, head):
        assert (base / "bench/library/answer.py").read_text() == "ANSWER = 1\n"
        assert (head / "bench/library/answer.py").read_text() == "ANSWER = 2\n"
    assert git(top, "status", "--porcelain") == ""
    bare = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(top), str(bare))
    alone = Repository.around(bare)
    assert alone.absent_submodules([alone.revision("HEAD")]) == ["bench/library"]
    with alone.checked_out([alone.revision("HEAD")]) as (head,):
        assert not list((head / "bench/library").iterdir())


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not the working tree of a git repository"):
        Repository.around(tmp_path)
    top = repository(tmp_path / "repo")
    with pytest.raises(UsageError, match=r"no revision 'maim'") as error:
        Repository.around(top).revision("maim")
    assert "main" in str(error.value)
    with pytest.raises(UsageError, match="no revision '--all'"):
        Repository.around(top).revision("--all")


def test_a_search_is_worth_naming_only_where_several_commits_lead_there(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, COMMENTED, "Comments")
    commit(top, SERVER, "None")
    asked = Repository.around(top)
    first, second, third = (asked.revision(name) for name in ("HEAD~2", "HEAD~1", "HEAD"))
    assert asked.leads(first, third)
    assert not asked.leads(second, third)
    assert not asked.leads(third, first)


def test_a_shallow_clone_is_told_how_to_become_whole(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, COMMENTED, "Comments")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{top}", str(clone)], check=True)
    with pytest.raises(UsageError, match="fetch-depth: 0"):
        Repository.around(clone).revision("HEAD~1")


@pytest.mark.parametrize(
    ("asked", "here", "found", "place"),
    [
        (None, ".", ["bench"], "bench"),
        (None, "b/stack", ["a", "b"], "b"),
        ("bench", ".", ["x", "bench"], "bench"),
        ("../a", "b", ["a", "b"], "a"),
        ("users", "src", ["scenarios/users", "scenarios/crud"], "scenarios/users"),
    ],
)
def test_which_scenario_is_meant(asked: str | None, here: str, found: list[str], place: str) -> None:
    files = [Path(folder) / "scenario.toml" for folder in found]
    assert scenario_place(asked, Path(here), files) == Path(place)


@pytest.mark.parametrize(
    ("asked", "found", "said"),
    [(None, [], "touchstone new"), (None, ["a", "b"], "one of: a, b"), ("c", ["a", "b"], "no scenario 'c'")],
)
def test_no_scenario_or_several_is_an_error(asked: str | None, found: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        scenario_place(asked, Path(), [Path(folder) / "scenario.toml" for folder in found])


def test_the_stack_is_each_revisions_own_and_the_scenario_the_heads(tmp_path: Path) -> None:
    base, head = repository(tmp_path / "base"), repository(tmp_path / "head")
    (head / "bench/scenario.toml").write_text((head / "bench/scenario.toml").read_text() + "# the head\n")
    (base / "bench/scenario.toml").unlink()
    folder, contender = two_stacks(head / "bench", base / "bench", head / "bench", None)
    assert contender == "sound/plain"
    assert [(s.name, s.folder) for s in folder.stacks] == [
        ("base", (base / "bench/sound").resolve()),
        ("head", (head / "bench/sound").resolve()),
    ]
    (base / "bench/sound/stack.toml").unlink()
    with pytest.raises(UsageError, match="the base has no stack 'sound'"):
        two_stacks(head / "bench", base / "bench", head / "bench", None)


def test_an_error_about_a_checkout_names_the_file_as_git_does(tmp_path: Path) -> None:
    asked = Repository.around(repository(tmp_path / "repo"))
    with pytest.raises(UsageError) as caught, asked.checked_out([asked.revision("main")]) as (folder,):
        raise UsageError(f"{folder}/a.toml:3: no", where=f"{folder}/b.toml", fix=f"`touchstone check {folder}/bench`")
    assert str(caught.value) == f"main:b.toml: main:a.toml:3: no\n  do: `touchstone check {asked.top}/bench`"
