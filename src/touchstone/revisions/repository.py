"""What is asked of git: revisions by their names, the working tree as a commit, and both checked out side by side."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from touchstone.failure import TouchstoneError, UsageError
from touchstone.judge.comparison.pair import Revision
from touchstone.revisions.git import GitError, explained, failure, last_words, require_git, run
from touchstone.revisions.submodules import lay_out, submodules_of

_AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "touchstone"), ("EMAIL", "touchstone@localhost"))
}
"""A snapshot of the working tree is a commit, and git makes none without an author."""


@dataclass(frozen=True)
class Repository:
    """A git repository with a working tree."""

    top: Path

    @classmethod
    def around(cls, folder: Path) -> Repository:
        """The repository that a folder lies in. Raises UsageError if there is none, TouchstoneError without git."""
        require_git()
        found = run(folder, ["rev-parse", "--show-toplevel"])
        if found.returncode != 0:
            what, fix = explained(found, folder) or (
                f"this is not the working tree of a git repository: {last_words(found)}",
                "go to a checkout of the service's repository; two runs that exist: `touchstone compare`",
            )
            raise UsageError(what, where=str(folder), fix=fix)
        return cls(Path(found.stdout.rstrip("\n")))

    def revision(self, name: str) -> Revision:
        """A revision by any name that git knows. Raises UsageError, with the fix for a shallow clone."""
        words = ["rev-parse", "--verify", f"{name}^{{commit}}"]
        # An option is not a name of a revision; old versions of git lack the flag to say so.
        found = run(self.top, words) if not name.startswith("-") else None
        if found is not None and found.returncode == 0:
            return self._described(name, found.stdout.strip())
        self._refuse_unborn()
        self._refuse_shallow(f"there is no revision {name!r}")
        if found is not None and explained(found, self.top):
            raise failure(found, self.top, words)
        branches = self._asked(["for-each-ref", "--format=%(refname:short)", "--count=8", "refs/heads", "refs/remotes"])
        raise UsageError(
            f"there is no revision {name!r}",
            where=str(self.top),
            fix=f"give a commit, a tag or a branch ({', '.join(branches.split()) or 'there is none'}), or fetch it",
        )

    def between(self, good: Revision, bad: Revision) -> int:
        """How many commits lead from one revision to the other, the latter among them.

        Raises UsageError if none does, with the fix for a shallow clone.
        """
        if run(self.top, ["merge-base", "--is-ancestor", good.commit, bad.commit]).returncode != 0:
            problem = f"{good.name!r} is not an ancestor of {bad.name!r}, so no commit between them can be searched for"
            self._refuse_shallow(problem)
            raise UsageError(problem, where=str(self.top), fix="give a commit that the bad one was built upon")
        return int(self._asked(["rev-list", "--count", bad.commit, f"^{good.commit}"]))

    def leads(self, good: Revision, bad: Revision) -> bool:
        """Whether several commits lead from one to the other, of which one can be searched for."""
        ancestor = run(self.top, ["merge-base", "--is-ancestor", good.commit, bad.commit]).returncode == 0
        return ancestor and self.between(good, bad) > 1

    def committed_at(self, revision: Revision) -> datetime:
        """When a commit was made."""
        return datetime.fromisoformat(self._asked(["show", "-s", "--format=%cI", revision.commit]))

    def log(self, after: str, until: str, most: int) -> list[Revision]:
        """The newest commits that lead from one to another, the latter among them. None if git knows one of them not.

        Args:
            after: a commit's hash, left out itself.
            until: a commit's hash.
            most: how many at the most.

        """
        listed = run(self.top, ["log", f"--max-count={most}", "--format=%H %s", f"{after}..{until}"])
        pairs = [line.partition(" ") for line in listed.stdout.splitlines()] if listed.returncode == 0 else []
        return [Revision(name=commit[:10], commit=commit, subject=subject) for commit, _, subject in pairs]

    def halfway(self, good: Iterable[str], bad: str) -> list[str]:
        """The commits that `bad` has and no good one has, those first that halve them best: as git's bisect does."""
        without = [f"^{commit}" for commit in good]
        listed = self._asked(["rev-list", "--bisect-all", bad, *without])
        return [line.split(" ", 1)[0] for line in listed.splitlines()]

    def working_tree(self, leave_out: Path) -> Revision:
        """HEAD, or a snapshot of changed files as a commit that no branch holds.

        Args:
            leave_out: a folder of which nothing is taken, such as that of the results.

        """
        head = self.revision("HEAD")
        places = ["--", "."]
        if leave_out.is_relative_to(self.top) and leave_out != self.top:
            places.append(f":(exclude){leave_out.relative_to(self.top)}")
        self._refuse_conflicts()
        if not self._asked(["status", "--porcelain", "--untracked-files=normal", *places]):
            return head
        with tempfile.TemporaryDirectory(prefix="touchstone-index-") as folder:
            index = Path(folder, "index")
            env = _AUTHOR | {"GIT_INDEX_FILE": str(index)}
            # The user's own index knows which files a sparse checkout leaves out on purpose.
            own = self.top / self._asked(["rev-parse", "--git-path", "index"])
            if own.is_file():
                shutil.copyfile(own, index)
            else:
                self._asked(["read-tree", "HEAD"], env)
            self._asked(["add", "--all", *places], env)
            tree = self._asked(["write-tree"], env)
            commit = self._asked(["commit-tree", tree, "-p", "HEAD", "-m", "working tree"], env)
        return Revision(name="HEAD", commit=commit, subject=head.subject, dirty=True)

    def files(self, revision: Revision, name: str) -> list[Path]:
        """The files of this name in a revision, relative to the top."""
        listed = self._asked(["ls-tree", "-r", "-z", "--name-only", revision.commit])
        return [path for word in listed.split("\0") if (path := Path(word)).name == name]

    def remarks(self, revisions: Sequence[Revision]) -> list[str]:
        """What is left out of the checkouts of revisions, in words."""
        found = []
        if absent := self.absent_submodules(revisions):
            fetch = "git submodule update --init --recursive"
            found.append(f"submodules whose commits are not here are left empty ({fetch}): {', '.join(absent)}")
        if any(revision.dirty for revision in revisions) and (changed := self._changed_submodules()):
            found.append(f"changes within submodules count once they are committed there: {', '.join(changed)}")
        if self._has_pointers(revisions):
            get = "apt-get install git-lfs && git lfs install && git lfs pull"
            found.append(f"files that git LFS keeps are left as pointers, since its filter is not set ({get})")
        return found

    def _changed_submodules(self) -> list[str]:
        """The places of submodules with changes that are not committed in them."""
        lines = self._asked(["status", "--porcelain=v2", "--untracked-files=no", "-z"]).split("\0")
        states = (line.split(" ", 8) for line in lines if line.startswith("1 "))
        return [words[8] for words in states if words[2].startswith("S") and words[2][2:] != ".."]

    def _has_pointers(self, revisions: Sequence[Revision]) -> bool:
        """Whether a revision uses git LFS and this git cannot fetch its files."""
        if run(self.top, ["config", "--get-regexp", r"^filter\.lfs\.(smudge|process)$"]).returncode == 0:
            return False
        names = [":(glob)**/.gitattributes"]
        return any(
            run(self.top, ["grep", "--quiet", "filter=lfs", revision.commit, "--", *names]).returncode == 0
            for revision in revisions
        )

    def absent_submodules(self, revisions: Iterable[Revision]) -> list[str]:
        """The places of submodules whose commits are not here: their folders are empty in a worktree."""
        found = (one for revision in revisions for one in submodules_of(git_output, self.top, revision.commit))
        return list(dict.fromkeys(str(one.place) for one in found if one.clone is None))

    @contextmanager
    def checked_out(self, revisions: Sequence[Revision]) -> Iterator[list[Path]]:
        """Worktrees with submodules where available, removed at the end. Raises GitError."""
        home = Path(tempfile.mkdtemp(prefix="touchstone-revisions-"))
        home.chmod(0o711)
        folders = [home / str(number) for number in range(len(revisions))]
        try:
            for revision, folder in zip(revisions, folders, strict=True):
                # A sparse checkout is the user's way of working, and no part of a revision.
                whole = ["-c", "core.sparseCheckout=false"]
                self._asked([*whole, "worktree", "add", "--quiet", "--detach", str(folder), revision.commit])
                self._refuse_clashes(revision, folder)
                for one in submodules_of(git_output, self.top, revision.commit):
                    lay_out(git_output, one, folder)
            yield folders
        except TouchstoneError as error:
            # Nobody finds these folders later: their files are named as git does, and the advice is about the user's.
            for revision, folder in zip(revisions, folders, strict=True):
                error.where = error.where and error.where.replace(f"{folder}/", f"{revision.name}:")
                error.what = error.what.replace(f"{folder}/", f"{revision.name}:")
                error.fix = error.fix and error.fix.replace(str(folder), str(self.top))
            raise
        finally:
            for folder in folders:
                run(self.top, ["worktree", "remove", "--force", str(folder)])
            shutil.rmtree(home, ignore_errors=True)
            run(self.top, ["worktree", "prune"])

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

    def _refuse_conflicts(self) -> None:
        if found := self._asked(["diff", "--name-only", "--diff-filter=U", "-z"]).strip("\0"):
            raise UsageError(
                f"the working tree has conflicts that are not resolved: {', '.join(found.split(chr(0)))}",
                where=str(self.top),
                fix="resolve them and `git add` the files, or name two commits",
            )

    def _refuse_unborn(self) -> None:
        if run(self.top, ["rev-parse", "--verify", "--quiet", "HEAD"]).returncode != 0 and not self._asked(
            ["for-each-ref", "--count=1"]
        ):
            raise UsageError(
                "the repository has no commit yet", where=str(self.top), fix="make the first one: git commit"
            )

    def _refuse_clashes(self, revision: Revision, folder: Path) -> None:
        listed = self._asked(["ls-tree", "-r", "-z", "--name-only", revision.commit]).split("\0")
        if pair := clash(folder, listed):
            raise GitError(
                f"{pair[0]} and {pair[1]} are one file in the checkout and two in {revision.name}",
                where=str(folder),
                fix="set TMPDIR to a folder on a case-sensitive file system",
            )

    def _asked(self, words: Sequence[str], env: dict[str, str] | None = None) -> str:
        found = run(self.top, words, env)
        if found.returncode != 0:
            raise failure(found, self.top, words)
        return found.stdout.strip()


def clash(folder: Path, names: Iterable[str]) -> tuple[str, str] | None:
    """Two names that a case-insensitive file system cannot tell from each other, else None."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.casefold(), name)
        one, two = folder / other, folder / name
        if other != name and one.exists() and two.exists() and one.samefile(two):
            return other, name
    return None


def git_output(folder: Path, words: Sequence[str], env: dict[str, str]) -> str | None:
    """What a git command printed; None if it failed."""
    done = run(folder, words, env)
    return done.stdout if done.returncode == 0 else None
