"""What a build command leaves running is ended, and its CPU time counts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from touchstone.phase.build.command import build_environment
from touchstone.phase.build.metering import Meter, run_metered

BURNT_S = 0.3
HELPER = """
import os, pathlib, signal, sys, time
if os.fork():
    while not pathlib.Path("helper").exists():
        time.sleep(0.01)
    sys.exit(3)
if sys.argv[1] == "session":
    os.setsid()
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while time.process_time() < 0.3:
    pass
pathlib.Path("part").write_text(str(os.getpid()))
os.rename("part", "helper")
if sys.argv[2] != "ends":
    time.sleep(600)
"""
"""A build whose helper works for a while before the build ends, and stays or ends with it."""


def metered(folder: Path, *how: str) -> tuple[Meter, int, str]:
    """A build's resources, its helper's id, and its log; `how` directs the helper."""
    meter, log = Meter(), folder / "log"
    argv = [sys.executable, "-c", HELPER, *how]
    assert run_metered(argv, env=dict(os.environ), cwd=folder, log=log, meter=meter) == 3
    return meter, int((folder / "helper").read_text()), log.read_text()


@pytest.mark.parametrize("how", [("session", "hears"), ("group", "hears"), ("session", "deaf")])
def test_a_helper_that_a_build_leaves_behind_is_ended(tmp_path: Path, how: tuple[str, str]) -> None:
    meter, helper, log = metered(tmp_path, *how)
    assert not psutil.pid_exists(helper)
    assert meter.cpu_s >= BURNT_S
    assert f"had left running: {helper} (" in log


def test_what_has_ended_by_itself_counts_and_is_not_told(tmp_path: Path) -> None:
    meter, helper, log = metered(tmp_path, "session", "ends")
    assert not psutil.pid_exists(helper)
    assert meter.cpu_s >= BURNT_S
    assert "left running" not in log or f"{helper} (" in log


def test_processes_that_were_there_before_go_on(tmp_path: Path) -> None:
    with psutil.Popen(["sleep", "60"], start_new_session=True) as other:
        metered(tmp_path, "session", "hears")
        assert other.is_running()
        other.kill()


def test_gradle_works_without_a_daemon_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRADLE_OPTS", raising=False)
    assert build_environment({})["GRADLE_OPTS"] == "-Dorg.gradle.daemon=false"
    monkeypatch.setenv("GRADLE_OPTS", "-Xmx1g")
    assert build_environment({})["GRADLE_OPTS"] == "-Xmx1g"
