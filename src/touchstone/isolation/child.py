"""Children of touchstone itself: engine, dependencies and tools, each in a session of its own, and known as ours."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

_OURS: set[int] = set()
STARTING = threading.RLock()
"""Held while a child of ours is started, until it is known as ours: a watch in another thread asks meanwhile."""


def start_child(command: Sequence[object], **options: Any) -> subprocess.Popen[Any]:
    """Start a program in its own session, out of reach of Ctrl-C.

    `options` are those of Popen.

    Touchstone takes orphans of its contenders for strays by their sessions; a child that is started here is none.
    Raises OSError or subprocess.SubprocessError if it cannot be executed.
    """
    with STARTING:
        child = subprocess.Popen([str(word) for word in command], start_new_session=True, **options)
        _OURS.add(child.pid)
    return child


def take_as_ours(pid: int) -> None:
    """Accept a process that our own tool left behind, such as a container monitor. It is not a stray."""
    _OURS.add(pid)


def end_child(child: subprocess.Popen[Any], patience_s: float = 5.0) -> None:
    """End it: SIGTERM first, SIGKILL if it is still there after `patience_s`."""
    child.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(patience_s)
    if child.poll() is None:
        child.kill()
        child.wait()


def is_foreign(pid: int) -> bool:
    """Whether a child of touchstone is in a session that touchstone did not start."""
    with contextlib.suppress(ProcessLookupError, PermissionError), STARTING:
        return os.getsid(pid) != os.getsid(0) and pid not in _OURS
    return False
