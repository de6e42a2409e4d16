"""What is known of processes that end while they are looked at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from touchstone.isolation.family import task_folders


def test_the_threads_of_a_process_have_folders() -> None:
    assert Path(f"/proc/{os.getpid()}/task/{os.getpid()}") in task_folders(os.getpid())


def test_a_process_that_has_ended_has_no_threads() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert task_folders(ended.pid) == []


def test_a_process_that_ends_while_its_threads_are_listed_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(folder: Path) -> None:
        # The kernel answers ESRCH for a folder that was opened before its process ended.
        raise ProcessLookupError(3, "No such process", str(folder))

    monkeypatch.setattr(Path, "iterdir", listed)
    assert task_folders(os.getpid()) == []
