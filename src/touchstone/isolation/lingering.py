"""Whether touchstone ends with its user's last session, as a systemd user manager arranges."""

from __future__ import annotations

import contextlib
import os
import pwd
from pathlib import Path

from touchstone.isolation.hierarchies import version_2

_LINGERING = Path("/var/lib/systemd/linger")


def ends_with_session() -> str | None:
    """What ends a run of this user, after "a run", and how to prevent it (loginctl(1)). None if a run goes on."""
    tree, user = version_2(), os.geteuid()
    managed = tree is not None and any(group.name == f"user@{user}.service" for group in tree.groups_of())
    if user == 0 or not managed or (_LINGERING / _name(user)).exists():
        return None
    return (
        f"ends when the last session of {_name(user)} does, as when a connection drops: "
        "`loginctl enable-linger` prevents that"
    )


def _name(user: int) -> str:
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(user).pw_name
    return str(user)
