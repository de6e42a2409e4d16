"""A small git repository with the demo service, for tests of two revisions."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.run.demo import SERVER, demo

WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "test"), ("EMAIL", "test@localhost"))
}
SLOWER = SERVER.replace(
    "def answer(method, target):\n", "def answer(method, target):\n    for _ in range(4000):\n        pass\n"
)
COMMENTED = SERVER.replace("names = set()\n", "names = set()  # nobody reads them\n")
BROKEN = SERVER.replace('b"pong"', 'b"pang"')


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], env=os.environ | WHO, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path, server: str, subject: str) -> None:
    (folder / "bench/sound/server.py").write_text(server)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)


DEARER = 8
"""Which of the twelve commits costs CPU time."""
_WORK = "def answer(method, target):\n    for _ in range({turns}):\n        pass\n"


def twelve_commits(folder: Path, dearer: float = 0.05) -> list[str]:
    """A repository of twelve commits, the oldest first: one makes a request dearer by a share, the others change words.

    A turn of the empty loop costs some 12 to 25 ns; what a share of a request is, the test that uses it sees by its
    own measurement.
    """
    demo(folder / "bench")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commits = []
    for number in range(1, 13):
        turns = 2000 if number < DEARER else round(2000 + dearer * 4500)
        server = SERVER.replace("def answer(method, target):\n", _WORK.format(turns=turns))
        commit(folder, f"# Version {number}\n{server}", f"Version {number}")
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits


def repository(folder: Path) -> Path:
    """A repository with the branch `main` of one commit."""
    demo(folder / "bench")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder, SERVER, "A service")
    return folder
