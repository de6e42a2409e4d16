"""Nothing that the lab made in the tree of cgroups outlives it, wherever an interruption comes."""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path

import pytest

from touchstone.isolation import cgroup
from touchstone.isolation.cgroup import Cgroup, clear_own_cgroups, create_cgroup
from touchstone.isolation.delegation import CgroupHome
from touchstone.isolation.process import start_process


def made() -> Cgroup:
    group = create_cgroup()
    if group is None:
        pytest.skip("no cgroup is permitted here")
    return group


def test_a_group_with_a_process_in_it_is_cleared_away(tmp_path: Path) -> None:
    group = made()
    process = start_process(
        [sys.executable, "-c", "import time; time.sleep(60)"],
        env={},
        cwd=tmp_path,
        log=tmp_path / "log",
        cgroup=group,
    )
    clear_own_cgroups()
    assert process.popen.wait(10) < 0
    assert not [folder for folder in group.folders if folder.exists()]


def test_the_rest_of_a_group_that_was_half_removed_is_cleared_away() -> None:
    group = made()
    group.folders[0].rmdir()
    clear_own_cgroups()
    assert not [folder for folder in group.folders if folder.exists()]


def test_the_groups_of_another_lab_stay() -> None:
    group = made()
    others = [folder.with_name(folder.name.replace(str(os.getpid()), str(os.getppid()))) for folder in group.folders]
    for folder, other in zip(group.folders, others, strict=True):
        folder.rmdir()
        other.mkdir()
    clear_own_cgroups()
    left = [other.exists() for other in others]
    for other in others:
        other.rmdir()
    assert all(left)


def test_a_group_that_cannot_have_its_memory_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    controllers = ("memory", "cpu", "pids")
    for controller in controllers:
        (tmp_path / controller).mkdir()
    (tmp_path / "memory" / f"touchstone-{os.getpid()}-full").touch()
    monkeypatch.setattr(secrets, "token_hex", lambda _bytes: "full")
    monkeypatch.setattr(cgroup, "find_home", lambda: CgroupHome(1, {name: tmp_path / name for name in controllers}))
    assert create_cgroup() is None
    assert sorted(path.name for path in tmp_path.glob("*/touchstone-*") if path.is_dir()) == []


def test_names_tell_nothing_and_differ() -> None:
    groups = [made(), made()]
    names = [group.folders[0].name for group in groups]
    for group in groups:
        group.remove()
    assert all(re.fullmatch(rf"touchstone-{os.getpid()}-[0-9a-f]{{12}}", name) for name in names)
    assert len(set(names)) == 2
