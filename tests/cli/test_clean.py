"""`touchstone clean` shows first, then removes that, and leaves what is in use; `doctor` shows the sizes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_commands import runs, touchstone

__all__ = ["runs"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three builds of a mebibyte, used a day after the other, and a tool."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TOUCHSTONE_CACHE", str(folder))
    for age, name in enumerate(("builds/newest", "builds/middle", "installs/oldest")):
        (folder / name / "work").mkdir(parents=True)
        (folder / name / "work" / "file").write_bytes(os.urandom(1 << 20))
        aged(folder / name, days=age)
    (folder / "installs/oldest.lock").touch()
    (folder / "upx").mkdir()
    (folder / "upx" / "upx").write_bytes(os.urandom(1 << 20))
    return folder


def aged(folder: Path, days: float) -> None:
    then = time.time() - days * 86400
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (then, then))


def test_nothing_goes_unless_it_is_said_what_and_yes(runs: Path, cache: Path) -> None:
    assert "say what may be removed" in touchstone(runs, "clean").stdout
    shown = touchstone(runs, "clean", "--cache-above", "1500KiB").stdout
    assert "2 folders" in shown.splitlines()[-1]
    assert "would be removed" in shown
    assert (cache / "installs/oldest").is_dir()


def test_the_builds_longest_unused_go_and_tools_stay(runs: Path, cache: Path) -> None:
    done = touchstone(runs, "clean", "--cache-above", "1500KiB", "--yes")
    assert "2 folders" in done.stdout
    assert [path.name for path in (cache / "builds").iterdir()] == ["newest"]
    assert not list((cache / "installs").iterdir())
    assert (cache / "upx/upx").is_file()


def test_old_runs_go_and_young_ones_stay(runs: Path, cache: Path) -> None:
    aged(runs / "results" / "20260101-000000-before", days=31)
    touchstone(runs, "clean", "--results-older-than", "30", "--yes")
    assert [path.name for path in (runs / "results").iterdir()] == ["20260102-000000-after"]
    assert (cache / "installs/oldest").is_dir()


def test_what_a_process_works_in_is_kept(runs: Path, cache: Path) -> None:
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, cwd=cache / "builds/middle/work", stdin=subprocess.PIPE) as process:
        done = touchstone(runs, "clean", "--cache-above", "0", "--yes")
        process.communicate(b"\n")
    assert "a process uses it" in done.stdout
    assert [path.name for path in (cache / "builds").iterdir()] == ["middle"]


def test_a_size_that_is_none_is_refused(runs: Path) -> None:
    done = touchstone(runs, "clean", "--cache-above", "much")
    assert done.returncode == 2
    assert "such as 2GiB" in done.stderr


def test_doctor_tells_the_sizes(runs: Path, cache: Path) -> None:
    rows = {row["what"]: row["found"] for row in json.loads(touchstone(runs, "doctor", "--json").stdout)}
    assert rows["results"].startswith("2 in ./results, ")
    assert "of which builds 3.0" in rows["cache"]


def test_doctor_exits_4_exactly_when_it_calls_the_machine_unfit(tmp_path: Path) -> None:
    done = touchstone(tmp_path, "doctor", "--noise", "--json")
    unfit = [row for row in json.loads(done.stdout) if row["state"] == "wrong"]
    assert done.returncode == (4 if unfit else 0)


def test_doctor_exits_4_next_to_a_busy_neighbour(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(command) as neighbour:
        done = touchstone(tmp_path, "doctor", "--noise")
        neighbour.kill()
    assert done.returncode == 4
    assert "other processes use" in done.stdout
