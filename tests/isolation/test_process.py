"""Processes are started apart and ended whole, with nothing left behind."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import psutil
import pytest

from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.delegation import lacking
from touchstone.isolation.port import foreign_listener, free_port, ports_of
from touchstone.isolation.process import StartError, describe_exit, start_process, tail

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)
FORKING = """
import os, time
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print('up', flush=True)
time.sleep(600)
"""


def wait_for(path: Path, text: str) -> None:
    deadline = time.monotonic() + 20
    while text not in (path.read_text() if path.exists() else ""):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def started(tmp_path: Path, program: str, **more: object):  # type: ignore[no-untyped-def]
    log = tmp_path / "log"
    process = start_process([sys.executable, "-c", program], env=dict(os.environ), cwd=tmp_path, log=log, **more)  # type: ignore[arg-type]
    wait_for(log, "up")
    return process


def test_a_server_that_ignores_sigterm_is_killed_and_it_is_said(tmp_path: Path) -> None:
    process = started(tmp_path, STUBBORN)
    assert "killed" in process.stop(patience_s=0.2)
    assert not psutil.pid_exists(process.pid)


def test_orphans_in_a_group_of_their_own_are_ended_and_nothing_is_left_of_them(tmp_path: Path) -> None:
    process = started(tmp_path, FORKING)
    deadline = time.monotonic() + 10
    while len(pids := {p.pid for p in process.tree()}) < 3:  # itself, the child that it never reaps, and the orphan
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.stop(patience_s=2)
    assert not any(psutil.pid_exists(pid) for pid in pids)  # no zombie of them, either


def test_a_program_that_is_not_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="cannot be started"):
        start_process(["/nonexistent/server"], env={}, cwd=tmp_path, log=tmp_path / "log")


def test_a_server_cannot_read_from_its_log_what_it_is_measured_for(tmp_path: Path) -> None:
    log = tmp_path / "0012-load-one-r01.log"
    told = "import os; print(os.readlink('/proc/self/fd/1'), flush=True)"
    process = start_process([sys.executable, "-c", told], env={}, cwd=tmp_path, log=log)
    process.popen.wait(30)
    process.stop()
    said = log.read_text()
    assert str(tmp_path) in said
    assert "load" not in said.replace(str(tmp_path), "")
    assert [path.name for path in tmp_path.iterdir()] == [log.name]


def test_a_process_runs_on_its_cpus(tmp_path: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    process = started(tmp_path, "import time; print('up', flush=True); time.sleep(600)", cpus=[cpu])
    try:
        assert os.sched_getaffinity(process.pid) == {cpu}
    finally:
        process.stop(patience_s=2)


def test_a_memory_limit_kills_and_the_kill_is_counted(tmp_path: Path) -> None:
    cgroup = create_cgroup()
    if cgroup is None:
        pytest.skip("cgroups are not permitted here")
    cgroup.limit_memory(48 * 2**20)
    program = "print('up', flush=True)\nhoard = []\nwhile True: hoard.append(bytearray(2**20))"
    process = started(tmp_path, program, cgroup=cgroup)
    process.popen.wait(30)
    assert process.exited() == "ended by SIGKILL"
    assert cgroup.oom_kills() == 1
    process.stop()
    assert not any(folder.exists() for folder in cgroup.folders)


def test_a_foreign_listener_is_named() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert foreign_listener(port, [os.getpid()]) is None
        assert f"process {os.getpid()}" in (foreign_listener(port, []) or "")
        assert port in ports_of([os.getpid()])
    low, high = (int(number) for number in Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    port = free_port()
    if low > 10_000 or high < 65_535:
        assert not low <= port <= high, "an outgoing connection may be given it before the server has started"


def test_exits_are_said_in_words() -> None:
    assert describe_exit(3) == "exited with code 3"
    assert describe_exit(-9) == "ended by SIGKILL"


def test_the_end_of_a_log_says_something_and_commands_no_terminal(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_bytes(
        b"\x1b]0;a title\x07first\n\x1b[0m\x1b[1;31merror\x1b[0m: no\tsuch \xc3\xa4\n\x1b[2J\x1b(B \n\x07\n\n"
    )
    assert tail(log) == ["first", "error: no\tsuch ä"]
    assert tail(log, 1) == ["error: no\tsuch ä"]
    assert tail(tmp_path / "none.log") == []


@pytest.mark.skipif(lacking("memory", "cpu") is not None, reason="no cgroup may be made here")
def test_the_cpu_that_it_takes_to_end_is_told_apart_from_what_it_took_before(tmp_path: Path) -> None:
    late = "import signal, sys, time\n"
    late += "def work(s):\n end = time.process_time() + s\n while time.process_time() < end: pass\n"
    late += "signal.signal(signal.SIGTERM, lambda *_: (work(0.6), sys.exit()))\n"
    late += "work(0.3)\nprint('up', flush=True)\nsignal.pause()"
    process = started(tmp_path, late, cgroup=create_cgroup())
    assert process.cpu_at_end is None
    process.stop()
    used = process.cpu_at_end
    assert used is not None
    assert used.before_s > 0.25
    assert used.ending_s == pytest.approx(0.6, abs=0.15)
