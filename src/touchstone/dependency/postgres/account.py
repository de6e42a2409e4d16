"""The unprivileged account under which PostgreSQL runs: it refuses to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from touchstone.dependency.base import DependencyError


@dataclass(frozen=True)
class Account:
    """A user to run as. `uid` is None if touchstone is unprivileged and keeps its own."""

    name: str
    uid: int | None = None
    gid: int | None = None

    def own(self, root: Path) -> None:
        """Give a folder and all that it holds to this account."""
        if self.uid is None or self.gid is None:
            return
        os.chown(root, self.uid, self.gid)
        for folder, folders, files in os.walk(root):
            for name in (*folders, *files):
                os.chown(Path(folder) / name, self.uid, self.gid, follow_symlinks=False)

    def reaches(self, path: Path) -> bool:
        """Whether this account may walk down to `path`: every folder above it lets it through."""
        if self.uid is None:
            return True
        return all(self._enters(parent) for parent in path.resolve().parents)

    def _enters(self, folder: Path) -> bool:
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def unprivileged_account() -> Account:
    """Touchstone's own user, or `postgres` or `nobody` if touchstone runs as root. Raises DependencyError."""
    if os.geteuid() != 0:
        return Account(pwd.getpwuid(os.geteuid()).pw_name)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise DependencyError(
        "PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody",
        fix="add one by `useradd --system postgres`, or run touchstone as an ordinary user",
    )


def private_folder(account: Account, wanted: Path, purpose: str) -> Path:
    """An empty folder for `account` alone: `wanted`/`purpose`, or a temporary one if it cannot reach that."""
    if account.reaches(wanted / purpose):
        folder = wanted / purpose
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    else:
        # /var/tmp before /tmp: by convention it lies on a disk, and durable commits on a RAM disk are none.
        place = next((p for p in ("/var/tmp", "/tmp") if os.access(p, os.W_OK | os.X_OK)), None)
        folder = Path(tempfile.mkdtemp(prefix="touchstone-", dir=place))
    folder.chmod(0o700)
    account.own(folder)
    return folder
