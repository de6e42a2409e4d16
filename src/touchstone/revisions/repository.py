"""What is asked of git: revisions by their names, the working tree as a commit, and both checked out side by side."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from touchstone.failure import TouchstoneError, UsageError
from touchstone.judge.comparison.revisions import Revision
from touchstone.revisions.submodules import lay_out, submodules_of

_AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "touchstone"), ("EMAIL", "touchstone@localhost"))
}
"""A snapshot of the working tree is a commit, and git makes none without an author."""
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Set within a hook, where they would lead every command to the hook's own tree."""


class GitError(TouchstoneError):
    """A git command that failed, with git's own words."""


@dataclass(frozen=True)
class Repository:
    """A git repository with a working tree."""

    top: Path

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """The repository that a folder lies in. Raises UsageError if there is none, TouchstoneError without git."""
        if shutil.which("git") is None:
            raise TouchstoneError("there is no git", fix="install it: apt-get install git")
        found = _git(folder, ["rev-parse", "--show-toplevel"])
        if found.returncode != 0:
            raise UsageError(
                f"this is not the working tree of a git repository: {_words(found)}",
                where=str(folder),
                fix="go to a checkout of the service's repository; two runs that exist: `touchstone compare`",
            )
        return cls(Path(found.stdout.rstrip("\n")))

    def revision(self, name: str) -> Revision:
        """A revision by any name that git knows. Raises UsageError; a shallow clone is told how to become whole."""
        found = _git(self.top, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"])
        if found.returncode == 0:
            return self._described(name, found.stdout.strip())
        self._refuse_shallow(f"there is no revision {name!r}")
        branches = self._asked(["for-each-ref", "--format=%(refname:short)", "--count=8", "refs/heads", "refs/remotes"])
        raise UsageError(
            f"there is no revision {name!r}",
            where=str(self.top),
            fix=f"give a commit, a tag or a branch ({', '.join(branches.split()) or 'there is none'}), or fetch it",
        )

    def between(self, good: Revision, bad: Revision) -> int:
        """How many commits lead from one revision to the other, the latter among them.

        Raises UsageError if none does; a shallow clone is told how to become whole.
        """
        if _git(self.top, ["merge-base", "--is-ancestor", good.commit, bad.commit]).returncode != 0:
            said = f"{good.name!r} is no ancestor of {bad.name!r}, so no commit between them can be searched for"
            self._refuse_shallow(said)
            raise UsageError(said, where=str(self.top), fix="give a commit that the bad one was built upon")
        return int(self._asked(["rev-list", "--count", bad.commit, f"^{good.commit}"]))

    def leads(self, good: Revision, bad: Revision) -> bool:
        """Whether several commits lead from one to the other, of which one can be searched for."""
        ancestor = _git(self.top, ["merge-base", "--is-ancestor", good.commit, bad.commit]).returncode == 0
        return ancestor and self.between(good, bad) > 1

    def committed_at(self, revision: Revision) -> datetime:
        """When a commit was made."""
        return datetime.fromisoformat(self._asked(["show", "-s", "--format=%cI", revision.commit]))

    def log(self, after: str, until: str, most: int) -> list[Revision]:
        """The newest commits that lead from one to another, the latter among them; none if git knows one of them not.

        Args:
            after: a commit's hash, left out itself.
            until: a commit's hash.
            most: how many at the most.

        """
        listed = _git(self.top, ["log", f"--max-count={most}", "--format=%H %s", f"{after}..{until}"])
        pairs = [line.partition(" ") for line in listed.stdout.splitlines()] if listed.returncode == 0 else []
        return [Revision(name=commit[:10], commit=commit, subject=subject) for commit, _, subject in pairs]

    def halfway(self, good: Iterable[str], bad: str) -> list[str]:
        """The commits that `bad` has and no good one has, those first that halve them best: as git's bisect does."""
        without = [f"^{commit}" for commit in good]
        listed = self._asked(["rev-list", "--bisect-all", bad, *without])
        return [line.split(" ", 1)[0] for line in listed.splitlines()]

    def working_tree(self, leave_out: Path) -> Revision:
        """HEAD, or if files have changed since, a snapshot of them as a commit that no branch holds.

        Args:
            leave_out: a folder of which nothing is taken, such as that of the results.

        """
        head = self.revision("HEAD")
        places = ["--", "."]
        if leave_out.is_relative_to(self.top) and leave_out != self.top:
            places.append(f":(exclude){leave_out.relative_to(self.top)}")
        if not self._asked(["status", "--porcelain", "--untracked-files=normal", *places]):
            return head
        folder = Path(tempfile.mkdtemp(prefix="touchstone-index-"))
        try:
            env = _AUTHOR | {"GIT_INDEX_FILE": str(folder / "index")}
            self._asked(["read-tree", "HEAD"], env)
            self._asked(["add", "--all", *places], env)
            tree = self._asked(["write-tree"], env)
            commit = self._asked(["commit-tree", tree, "-p", "HEAD", "-m", "working tree"], env)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return Revision(name="HEAD", commit=commit, subject=head.subject, dirty=True)

    def files(self, revision: Revision, name: str) -> list[Path]:
        """The files of this name in a revision, relative to the top."""
        listed = self._asked(["ls-tree", "-r", "-z", "--name-only", revision.commit])
        return [path for word in listed.split("\0") if (path := Path(word)).name == name]

    def absent_submodules(self, revisions: Iterable[Revision]) -> list[str]:
        """The places of submodules whose commits are not here: their folders are empty in a worktree."""
        found = (one for revision in revisions for one in submodules_of(_said, self.top, revision.commit))
        return list(dict.fromkeys(str(one.place) for one in found if one.clone is None))

    @contextmanager
    def checked_out(self, revisions: Sequence[Revision]) -> Iterator[list[Path]]:
        """A worktree of each with its submodules, as far as they are here, removed in the end. Raises GitError."""
        home = Path(tempfile.mkdtemp(prefix="touchstone-revisions-"))
        home.chmod(0o711)
        folders = [home / str(number) for number in range(len(revisions))]
        try:
            for revision, folder in zip(revisions, folders, strict=True):
                self._asked(["worktree", "add", "--quiet", "--detach", str(folder), revision.commit])
                for one in submodules_of(_said, self.top, revision.commit):
                    lay_out(_said, one, folder)
            yield folders
        finally:
            for folder in folders:
                _git(self.top, ["worktree", "remove", "--force", str(folder)])
            shutil.rmtree(home, ignore_errors=True)
            _git(self.top, ["worktree", "prune"])

    def _refuse_shallow(self, what: str) -> None:
        if self._asked(["rev-parse", "--is-shallow-repository"]) == "true":
            raise UsageError(
                f"{what}: this is a shallow clone, which lacks most of the history",
                where=str(self.top),
                fix="in a workflow give actions/checkout `fetch-depth: 0` (in GitLab `GIT_DEPTH: 0`); elsewhere "
                "`git fetch --unshallow`",
            )

    def _described(self, name: str, commit: str) -> Revision:
        return Revision(name=name, commit=commit, subject=self._asked(["show", "-s", "--format=%s", commit]))

    def _asked(self, words: Sequence[str], env: dict[str, str] | None = None) -> str:
        found = _git(self.top, words, env)
        if found.returncode != 0:
            raise GitError(f"`git {' '.join(words)}` failed: {_words(found)}", where=str(self.top))
        return found.stdout.strip()


def _git(folder: Path, words: Sequence[str], env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    whole = {name: value for name, value in os.environ.items() if name not in _PLACES} | (env or {})
    return subprocess.run(
        ["git", "-C", str(folder), *words], env=whole, capture_output=True, text=True, errors="replace", check=False
    )


def _said(folder: Path, words: Sequence[str], env: dict[str, str]) -> str | None:
    done = _git(folder, words, env)
    return done.stdout if done.returncode == 0 else None


def _words(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.strip().removeprefix("fatal: ") or f"git ended with code {done.returncode}"
