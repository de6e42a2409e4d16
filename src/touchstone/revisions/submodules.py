"""Submodules of a commit, from the clones that the user's working tree has of them: nothing is fetched."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Git = Callable[[Path, Sequence[str], dict[str, str]], str | None]
"""Runs git in a folder with further environment; its output, None if it failed."""
_LINK = "160000"
"""The mode of a submodule in git's trees."""


@dataclass(frozen=True)
class Submodule:
    """A commit of another repository, at its place below the top."""

    place: Path
    commit: str
    clone: Path | None
    """Where that repository lies with this commit in it; None if it does not."""


def submodules_of(git: Git, top: Path, commit: str, below: Path = Path()) -> Iterator[Submodule]:
    """The submodules of a commit of the repository at `top`, and theirs."""
    for line in (git(top, ["ls-tree", "-r", "-z", commit], {}) or "").split("\0"):
        head, _, name = line.partition("\t")
        mode, _, pinned = head.split(" ") if head else ("", "", "")
        if mode != _LINK:
            continue
        clone = top / name
        is_there = (clone / ".git").exists() and git(clone, ["cat-file", "-e", f"{pinned}^{{commit}}"], {}) is not None
        yield Submodule(below / name, pinned, clone if is_there else None)
        if is_there:
            yield from submodules_of(git, clone, pinned, below / name)


def lay_out(git: Git, found: Submodule, tree: Path) -> None:
    """Write the submodule's files into a worktree of the commit that has it. Nothing if its clone lacks them."""
    if found.clone is None:
        return
    with tempfile.TemporaryDirectory(prefix="touchstone-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git(found.clone, ["read-tree", found.commit], index)
        git(found.clone, ["checkout-index", "--all", f"--prefix={tree / found.place}/"], index)
