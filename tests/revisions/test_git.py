"""Git fails for many reasons: each is named, and what surrounds the lab changes nothing of what is measured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_ab import touchstone
from tests.revisions.repository import COMMENTED, commit, git, repository
from tests.run.demo import SERVER
from touchstone.failure import TouchstoneError, UsageError
from touchstone.revisions.git import explained
from touchstone.revisions.repository import Repository, clash


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def tree(top: Path, revision: str = "HEAD") -> list[str]:
    asked = Repository.around(top)
    with asked.checked_out([asked.revision(revision)]) as (folder,):
        return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.name != ".git")


def refused(folder: Path, *revisions: str) -> str:
    with pytest.raises(TouchstoneError) as error:
        asked = Repository.around(folder)
        with asked.checked_out([asked.revision(name) for name in revisions or ["HEAD"]]):
            pass
    assert error.value.where and error.value.fix
    return str(error.value)


def test_no_hook_and_no_monitor_runs(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    marker = tmp_path / "ran"
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "fsmonitor"):
        script(top / ".git/hooks" / hook, f'echo {hook} >> "{marker}"; exit 1')
    git(top, "config", "core.fsmonitor", str(top / ".git/hooks/fsmonitor"))
    (top / "bench/sound/server.py").write_text(COMMENTED)
    asked = Repository.around(top)
    marker.unlink(missing_ok=True)
    snapshot = asked.working_tree(top / "results")
    assert snapshot.dirty
    with asked.checked_out([asked.revision("HEAD"), snapshot]):
        pass
    git(top, "config", "core.hooksPath", str(top / ".git/hooks"))
    assert tree(top)
    assert not marker.exists()


def test_what_a_hook_sets_leads_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top, other = repository(tmp_path / "repo"), repository(tmp_path / "other")
    commit(other, COMMENTED, "Another")
    for name, value in {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / ".git/index",
                        "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "de_DE.UTF-8"}.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))
    asked = Repository.around(top)
    assert asked.top == top and asked.revision("HEAD").subject == "A service"
    (top / "results").mkdir()
    (top / "results/run.json").touch()
    assert not asked.working_tree(top / "results").dirty


def test_ignored_files_are_in_no_snapshot(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / ".gitignore").write_text("*.env\n")
    (top / ".git/info/exclude").write_text("notes/\n")
    (top / "bench/sound/local.env").touch()
    (top / "notes").mkdir()
    (top / "notes/a.txt").touch()
    (top / "bench/sound/new.py").touch()
    asked = Repository.around(top)
    with asked.checked_out([asked.working_tree(top / "results")]) as (folder,):
        assert (folder / "bench/sound/new.py").exists()
        assert not (folder / "bench/sound/local.env").exists() and not (folder / "notes").exists()


def test_a_sparse_checkout_is_no_part_of_a_revision(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / "library").mkdir()
    (top / "library/answer.py").touch()
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "A library")
    git(top, "sparse-checkout", "set", "bench")
    assert not (top / "library").exists()
    assert "library/answer.py" in tree(top)
    (top / "bench/sound/server.py").write_text(COMMENTED)
    asked = Repository.around(top)
    with asked.checked_out([asked.working_tree(top / "results")]) as (folder,):
        assert (folder / "library/answer.py").exists()
        assert (folder / "bench/sound/server.py").read_text() == COMMENTED
    assert git(top, "status", "--porcelain") == "M bench/sound/server.py"


def test_a_linked_worktree_is_a_working_tree(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    git(top, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side/bench/sound/server.py").write_text(COMMENTED)
    asked = Repository.around(tmp_path / "side/bench")
    assert asked.top == tmp_path / "side"
    with asked.checked_out([asked.working_tree(tmp_path / "side/results"), asked.revision("main")]) as (new, old):
        assert (new / "bench/sound/server.py").read_text() == COMMENTED
        assert (old / "bench/sound/server.py").read_text() == SERVER
    assert len(git(top, "worktree", "list").splitlines()) == 2


def test_a_lock_that_another_git_left_is_in_nobodys_way(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / ".git/index.lock").touch()
    (top / "bench/sound/server.py").write_text(COMMENTED)
    assert Repository.around(top).working_tree(top / "results").dirty
    assert tree(top)


def test_a_name_that_is_no_utf_8_is_checked_out(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    Path(os.fsdecode(os.fsencode(top) + b"/bench/sound/\xff.txt")).touch()
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "Odd")
    assert "bench/sound/\udcff.txt" in tree(top)


def test_changes_within_a_submodule_are_named(tmp_path: Path) -> None:
    library, top = repository(tmp_path / "library"), repository(tmp_path / "repo")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "my library")
    git(top, "commit", "--quiet", "-m", "Bring it in")
    (top / "my library/bench/sound/server.py").write_text(COMMENTED)
    asked = Repository.around(top)
    dirty = asked.working_tree(top / "results")
    assert dirty.dirty
    (remark,) = asked.remarks([asked.revision("HEAD"), dirty])
    assert remark == "changes within submodules count once they are committed there: my library"
    assert asked.remarks([asked.revision("HEAD")]) == []


def with_lfs(top: Path) -> Path:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 3\n"
    (top / "bench/model.bin").write_text(pointer)
    (top / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "A model")
    return top


def test_files_of_lfs_without_its_filter_are_named(tmp_path: Path) -> None:
    top = with_lfs(repository(tmp_path / "repo"))
    asked = Repository.around(top)
    (remark,) = asked.remarks([asked.revision("HEAD")])
    assert "left as pointers" in remark and "git lfs pull" in remark


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"lfs.process": "git-lfs-none filter-process", "lfs.required": "true"}, "git-lfs is not installed"),
        ({"lfs.smudge": "git-lfs-none smudge -- %f", "lfs.required": "true"}, "git-lfs is not installed"),
        ({"lfs.smudge": "false", "lfs.required": "true"}, "git LFS could not bring"),
    ],
)
def test_a_filter_that_fails_is_named(tmp_path: Path, settings: dict[str, str], what: str) -> None:
    top = with_lfs(repository(tmp_path / "repo"))
    for name, value in settings.items():
        git(top, "config", f"filter.{name}", value)
    assert what in refused(top)


def test_a_filter_of_ones_own_is_named(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    (top / ".gitattributes").write_text("*.py filter=ours\n")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "Filtered")
    git(top, "config", "filter.ours.smudge", "false")
    git(top, "config", "filter.ours.required", "true")
    assert "the filter ours, which is set for files of this repository, failed" in refused(top)


def test_a_missing_object_is_named(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    name = git(top, "rev-parse", "HEAD:bench/sound/server.py")
    (top / ".git/objects" / name[:2] / name[2:]).unlink()
    said = refused(top)
    assert "objects of this repository are missing or damaged" in said and "git fsck" in said


def test_a_partial_clone_whose_remote_is_gone_is_named(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    commit(origin, COMMENTED, "Comments")
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--filter=blob:none", f"file://{origin}", "clone")
    origin.rename(tmp_path / "moved")
    assert "this is a partial clone" in refused(tmp_path / "clone", "HEAD~1")


@pytest.mark.parametrize(
    ("made", "what", "fix"),
    [
        (lambda top: git(top, "init", "--quiet"), "no commit yet", "git commit"),
        (lambda top: git(top, "init", "--quiet", "--bare"), "bare repository", "tree above `.git`, or to a clone of"),
        (lambda top: (top / ".git").write_text("gitdir: /nowhere/worktrees/x\n"), "/nowhere/worktrees/x", "mounted"),
        (lambda top: (repository(top) / ".git/config").open("a").write("[broken\n"), "configuration", "correct it"),
        (lambda top: git(repository(top), "config", "extensions.fancy", "1") or git(top, "config",
         "core.repositoryformatversion", "1"), "newer form", "newer git"),
        (lambda top: (repository(top) / ".git/HEAD").write_text("nonsense\n"), "git", ""),
    ],
)  # fmt: skip
def test_a_repository_that_cannot_be_used_is_named(tmp_path: Path, made: object, what: str, fix: str) -> None:
    top = tmp_path / "repo"
    top.mkdir()
    made(top)  # type: ignore[operator]
    done = touchstone(tmp_path, "ab", "HEAD")
    assert done.returncode in (1, 2) and "defect" not in done.stderr
    assert what in done.stderr and fix in done.stderr and "\n  do: " in done.stderr


def test_another_users_repository_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = repository(tmp_path / "repo")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    done = touchstone(tmp_path, "ab", "HEAD")
    assert done.returncode == 2
    assert "belongs to another user" in done.stderr
    assert f"git config --global --add safe.directory {top}" in done.stderr


@pytest.mark.parametrize(("told", "what"), [("git version 2.7.4", "git 2.7 is too old"), (None, "there is no git")])
def test_an_old_git_or_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str | None, what: str
) -> None:
    repository(tmp_path / "repo")
    (tmp_path / "bin").mkdir()
    if told:
        script(tmp_path / "bin/git", f"echo {told}")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(TouchstoneError, match=what):
        Repository.around(tmp_path / "repo")


@pytest.mark.parametrize(
    "name", ["", "-x", "--all", "main:bench", "a b", "\n", "HEAD^{tree}", "@{99}", "0" * 40, "x" * 9000]
)
def test_a_name_that_is_no_revision_is_named(tmp_path: Path, name: str) -> None:
    top = repository(tmp_path / "repo")
    with pytest.raises(UsageError, match="there is no revision"):
        Repository.around(top).revision(name)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("fatal: unable to write file x: No space left on device", "the disk is full"),
        ("fatal: could not create directory of '.git/worktrees/0': Read-only file system", "read-only file system"),
        ('error: open("bench/key"): Permission denied\nfatal: adding files failed', "bench/key cannot be read"),
        ("warning: could not open directory 'private/': Permission denied", None),
        ("fatal: could not create leading directories of '/r/.git/worktrees/0': Permission denied", "may not write"),
        ("fatal: Unable to create '/r/.git/worktrees/0/index.lock': File exists.\n\nAnother git process", "index.lock"),
        ("fatal: index file corrupt", "index of this working tree is damaged"),
        ("error: object file .git/objects/ab/cd is empty\nfatal: loose object abcd is corrupt", "missing or damaged"),
        ("fatal: unable to read tree 3a0f5e2c9d", "missing or damaged"),
        ("error: unknown option `quiet'\nusage: git worktree add", "too old"),
        ("fatal: unsafe repository ('/r' is owned by someone else)", "belongs to another user"),
        ("fatal: Out of memory, malloc failed (tried to allocate 9 bytes)", "no memory"),
        ("error: unable to create file a/b: File name too long", "too long"),
        ("fatal: nobody has seen this", None),
    ],
)
def test_causes_are_known_by_gits_words(tmp_path: Path, said: str, what: str | None) -> None:
    found = explained(subprocess.CompletedProcess([], 128, "", said), tmp_path)
    assert (found is None) if what is None else (found is not None and what in found[0] and found[1])


def test_what_is_not_known_is_told_in_gits_words(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    odd = 'echo "hint: x" >&2; echo "fatal: odd thing" >&2; exit 3'
    script(tmp_path / "bin/git", f'case "$*" in *worktree*) {odd};; esac\nPATH="${{PATH#*:}}" exec git "$@"')
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{tmp_path / 'bin'}:{before}"
    try:
        said = refused(top)
    finally:
        os.environ["PATH"] = before
    assert "git failed: odd thing" in said and "worktree add" in said and "hint" not in said


def test_names_that_a_file_system_takes_for_one_are_found(tmp_path: Path) -> None:
    (tmp_path / "Readme").touch()
    (tmp_path / "readme").hardlink_to(tmp_path / "Readme")
    (tmp_path / "a").touch()
    (tmp_path / "A").touch()
    assert clash(tmp_path, ["A", "a", "Readme", "readme"]) == ("Readme", "readme")
    assert clash(tmp_path, ["A", "a", "Readme"]) is None


def test_conflicts_that_are_not_resolved_are_refused(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    commit(top, COMMENTED, "Comments")
    git(top, "checkout", "--quiet", "-b", "other", "HEAD~1")
    commit(top, "# other\n", "Other")
    with pytest.raises(subprocess.CalledProcessError):
        git(top, "merge", "main")
    with pytest.raises(UsageError, match=r"not resolved: bench/sound/server\.py"):
        Repository.around(top).working_tree(top / "results")
