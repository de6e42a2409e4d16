"""Runs git: without hooks and prompts, whatever surrounds touchstone, and a failure named by its cause."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.failure import TouchstoneError

OLDEST = (2, 17)
"""The first git that removes worktrees."""
_SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false")
"""Hooks are commands of the repository's users, such as one that installs packages after a checkout."""
_ENVIRONMENT = {"LC_ALL": "C", "LANGUAGE": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
"""Words in English, since causes are known by them; nobody is asked for a password; `status` locks no index."""
_LEFT_OUT = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"}
    | {f"GIT_{kind}_PATHSPECS" for kind in ("LITERAL", "GLOB", "NOGLOB", "ICASE")}
)
"""Set within a hook, where they would lead every command to the hook's own tree, or change what a path means."""


class GitError(TouchstoneError):
    """A git command that failed, by its cause."""


@dataclass(frozen=True)
class GitFailureCause:
    """Why git fails: a pattern of its message, our words, and the fix. `{0}` is the pattern's group."""

    pattern: re.Pattern[str]
    what: str
    fix: str


def _cause(pattern: str, what: str, fix: str) -> GitFailureCause:
    return GitFailureCause(re.compile(pattern), what, fix)


_AGAIN = "`git fsck` lists what is damaged; fetch it again, or clone the repository again"
_RIGHTS = "let your user write there, or work on a clone of your own"
CAUSES = (
    _cause(
        r"(?:dubious ownership in repository at|unsafe repository \()\s*'([^']+)'",
        "git refuses this repository: it belongs to another user",
        "if you trust what is in it: git config --global --add safe.directory {0}",
    ),
    _cause(
        r"must be run in a work tree|cannot use bare repository",
        "this is a bare repository or the inside of a `.git`, which has no files to work with",
        "go to the working tree above `.git`, or to a clone of the bare repository: git clone {top}",
    ),
    _cause(
        r"not a git repository: (?:'?([^'\n]+)'?)",
        "the `.git` file here leads to {0}, which does not exist",
        "bring that folder back (a container needs it mounted too), or clone the repository again",
    ),
    _cause(
        r"Unable to create '([^']+\.lock)': File exists",
        "another git is at work in this repository, or one was ended halfway: there is {0}",
        "wait for it; if no git runs: rm {0}",
    ),
    _cause(
        r"No space left on device|Disk quota exceeded",
        "the disk is full",
        "free space in the repository and in {temporary}, where revisions are checked out; `TMPDIR` moves that",
    ),
    _cause(
        r"Read-only file system", "the repository is on a read-only file system", "work on a clone: git clone {top}"
    ),
    _cause(
        r"git-lfs[^\n]*: (?:command )?not found|'lfs' is not a git command|cannot run git-lfs",
        "files of this repository are kept by git LFS, and git-lfs is not installed",
        "install it (apt-get install git-lfs), or take its filter out: git lfs uninstall",
    ),
    _cause(
        r"smudge filter lfs failed|external filter 'git-lfs",
        "git LFS could not bring the files of this revision",
        "fetch them while its server answers: git lfs fetch --all",
    ),
    _cause(
        r"(?:smudge|clean) filter '?([^'\s]+)'? failed",
        "the filter {0}, which is set for files of this repository, failed",
        "make the command work, or take it out of git's configuration (`git config --list --show-origin`)",
    ),
    _cause(
        r"promisor remote|lazy fetching disabled|could not fetch [0-9a-f]{40}|Could not read from remote repository",
        "this is a partial clone: it lacks files of the revision, and its remote did not give them",
        "make the remote reachable, or clone the repository without `--filter`",
    ),
    _cause(
        r"(?:index file (?:corrupt|smaller)|bad index file|bad signature 0x|unknown index entry)",
        "git's index of this working tree is damaged",
        "make it again: rm {top}/.git/index && git -C {top} reset",
    ),
    _cause(
        r"bad object|unable to read (?:sha1|tree|[0-9a-f]{7})|missing (?:blob|tree)|object file \S+ is empty|"
        r"is corrupt|inflate: |unable to unpack|invalid object|bad tree object|unable to find [0-9a-f]{40}|"
        r"cannot read object|failed to read object|packfile \S+ (?:cannot|is|does)|Could not read [0-9a-f]{40}",
        "objects of this repository are missing or damaged",
        _AGAIN,
    ),
    _cause(
        r"unknown repository extension|Expected git repo version|unknown value for .*extensions\.",
        "this repository is of a newer form than this git knows",
        "install a newer git",
    ),
    _cause(
        r"bad (?:numeric |boolean )?config (?:line|value|file)(?: \d+)?(.*)",
        "git's configuration cannot be read: it is wrong{0}",
        "correct it in that file",
    ),
    _cause(
        r"[Ff]ile ?name too long", "a path of this revision is too long", "set TMPDIR to a folder with a short name"
    ),
    _cause(
        r"unknown (?:option|switch)|is not a git command|^usage: git",
        "this git is too old",
        f"install git {OLDEST[0]}.{OLDEST[1]} or newer",
    ),
    _cause(
        r"could not open directory '([^']+)'|open\(\"([^\"]+)\"\): Permission denied", "{0} cannot be read", _RIGHTS
    ),
    _cause(r"'?([^'\s]+)'?: Permission denied|insufficient permission", "your user may not write {0}", _RIGHTS),
    _cause(r"[Oo]ut of memory|Cannot allocate memory", "git had no memory left", "free memory, and try again"),
)


def run(folder: Path, words: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, with further environment. Names that are not UTF-8 stay what they are."""
    whole = (
        {name: value for name, value in os.environ.items() if name not in _LEFT_OUT} | _ENVIRONMENT | dict(env or {})
    )
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    return subprocess.run(
        ["git", *settings, "-C", str(folder), *words],
        env=whole,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )


def require_git() -> None:
    """Raise TouchstoneError if there is no git, or too old a one."""
    if shutil.which("git") is None:
        raise TouchstoneError("there is no git", fix="install it: apt-get install git")
    text = run(Path(), ["--version"]).stdout
    version = re.search(r"(\d+)\.(\d+)", text)
    if version and (int(version[1]), int(version[2])) < OLDEST:
        raise TouchstoneError(f"git {version[0]} is too old", fix=f"install git {OLDEST[0]}.{OLDEST[1]} or newer")


def failure(done: subprocess.CompletedProcess[str], top: Path, words: Sequence[str]) -> GitError:
    """The error about a command that failed: its cause where that is known, and else git's own words."""
    text = explained(done, top)
    if text is not None:
        return GitError(text[0], where=str(top), fix=text[1])
    again = f"run it by hand to see its message: git -C {shlex.quote(str(top))} {shlex.join(words)}"
    return GitError(f"git failed: {last_words(done)}", where=str(top), fix=again)


def explained(done: subprocess.CompletedProcess[str], top: Path) -> tuple[str, str] | None:
    """What a failed command met and what to do, in touchstone's words. None where its cause is not known."""
    text = "\n".join(line for line in done.stderr.splitlines() if not line.startswith(("hint:", "warning:")))
    for cause in CAUSES:
        if found := cause.pattern.search(text):
            group = next((part for part in found.groups() if part), "")
            fill = {"top": shlex.quote(str(top)), "temporary": tempfile.gettempdir()}
            return cause.what.format(group, **fill), cause.fix.format(shlex.quote(group), **fill)
    return None


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Git's message about a failure, without its advice."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("hint:", "warning:"))]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    if done.returncode < 0:
        return f"it was ended by signal {-done.returncode}"
    text = "; ".join(
        line.removeprefix("fatal: ").removeprefix("error: ").strip() for line in fatal[-3:] if line.strip()
    )
    return text or f"it ended with code {done.returncode}"
