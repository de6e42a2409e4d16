"""Whether a process stayed where it was put: real processes, each of which does one thing that it must not."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.confinement import _INTERVAL_S, ConfinementWatch, is_halted, memory_of
from touchstone.isolation.delegation import lacking
from touchstone.isolation.granted import GrantedResources
from touchstone.isolation.process import ServerProcess, start_process

GROUPED = pytest.mark.skipif(lacking("memory", "cpu") is not None, reason="no cgroup may be made here")
READY = "open('ready', 'w').close()\ntime.sleep(60)"


@contextmanager
def started(
    folder: Path, deed: str, *, cpus: Sequence[int] = (), grouped: bool = False, limit: int | None = None
) -> Iterator[tuple[ServerProcess, ConfinementWatch]]:
    """A Python that does the deed and sleeps."""
    cgroup = create_cgroup() if grouped else None
    if cgroup is not None and limit is not None:
        cgroup.limit_memory(limit)
    argv = [sys.executable, "-c", f"import os, time\n{deed}\n{READY}"]
    process = start_process(argv, env={}, cwd=folder, log=folder / "log", cpus=cpus, cgroup=cgroup)
    try:
        with ConfinementWatch(process, cpus, limit) as watch:
            deadline = time.monotonic() + 30
            while not (folder / "ready").exists():
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.01)
            yield process, watch
    finally:
        process.stop(5)


def account(folder: Path, deed: str, **how: Any) -> dict[str, Any]:
    with started(folder, deed, **how) as (_, watch):
        return watch.account()


def test_nothing_is_said_of_one_that_stays(tmp_path: Path) -> None:
    assert account(tmp_path, "pass", cpus=[min(os.sched_getaffinity(0))], grouped=True) == {}


def test_one_that_was_stopped_by_a_signal_and_goes_on(tmp_path: Path) -> None:
    with started(tmp_path, "pass") as (process, watch):
        os.kill(process.pid, signal.SIGSTOP)
        stopped = Path(f"/proc/{process.pid}/status")
        deadline = time.monotonic() + 10
        while not is_halted(stopped.read_text()):
            assert time.monotonic() < deadline
        os.kill(process.pid, signal.SIGCONT)
        assert watch.account() == {"halted": True}
        assert watch.account() == {}
        assert process.exited() is None


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")
def test_a_wider_cpu_set(tmp_path: Path) -> None:
    first, second = sorted(os.sched_getaffinity(0))[:2]
    found = account(tmp_path, f"os.sched_setaffinity(0, [{first}, {second}])", cpus=[first])
    assert found["beyond_cpus"][0]["cpus"] == [first, second]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may raise a priority")
def test_a_raised_priority(tmp_path: Path) -> None:
    found = account(tmp_path, f"os.setpriority(os.PRIO_PROCESS, 0, {os.nice(0) - 2})")
    assert found["raised"][0]["nice"] == os.nice(0) - 2


DAEMON = """
if os.fork():
    os.wait()
    time.sleep(60)
os.setsid()
if os.fork():
    os._exit(0)
"""


def test_a_daemon_that_left_its_session_is_a_stray_and_is_ended(tmp_path: Path) -> None:
    with started(tmp_path, DAEMON) as (process, watch):
        (stray,) = watch.account()["strays"]
        assert psutil.pid_exists(stray["pid"])
        process.stop(5)
    assert not psutil.pid_exists(stray["pid"]) or psutil.Process(stray["pid"]).status() == psutil.STATUS_ZOMBIE


BRIEF = """
import pathlib
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for line in open("/proc/self/cgroup").read().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                above = pathlib.Path("/sys/fs/cgroup", controller, path.lstrip("/")).parent / "cgroup.procs"
                if path != "/" and above.exists():
                    above.write_text(str(os.getpid()))
        pathlib.Path("gone-out").touch()
        while not pathlib.Path("seen").exists():
            time.sleep(0.01)
    os._exit(0)
os.wait()
while not pathlib.Path("gone-out").exists():
    time.sleep(0.01)
"""
"""Its helper leaves session and cgroup, and ends before the account is taken."""


@GROUPED
def test_an_escape_that_has_ended_by_the_time_of_the_account(tmp_path: Path) -> None:
    with started(tmp_path, BRIEF, grouped=True) as (process, watch):
        (helper,) = process.strays({process.pid})
        time.sleep(3 * _INTERVAL_S)
        (tmp_path / "seen").touch()
        deadline = time.monotonic() + 20
        while process.strays({process.pid}):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert [stray["pid"] for stray in watch.account()["strays"]] == [helper]


@GROUPED
def test_a_daemon_within_the_cgroup_is_no_stray(tmp_path: Path) -> None:
    assert account(tmp_path, DAEMON, grouped=True) == {}


@GROUPED
def test_memory_that_is_in_no_process(tmp_path: Path) -> None:
    deed = "f = os.memfd_create('x'); os.write(f, bytes(8 << 20))"
    with started(tmp_path, deed, grouped=True) as (_, watch):
        deadline = time.monotonic() + 20
        while "unmapped_shared" not in (found := watch.account()):
            assert time.monotonic() < deadline
            time.sleep(0.2)
    assert found["unmapped_shared"] >= 8 << 20
    assert found["resident"] > 1 << 20


def test_memory_is_read_from_the_kernels_lines() -> None:
    status = "Name:\tx\nVmRSS:\t  2048 kB\nRssShmem:\t    64 kB\nHugetlbPages:\t   4096 kB\n"
    assert memory_of(status) == (64 << 10, 2 << 20, 4 << 20)
    assert memory_of("Name:\tx\nState:\tZ (zombie)\n") == (0, 0, 0)


@GROUPED
def test_a_lifted_limit(tmp_path: Path) -> None:
    with started(tmp_path, "pass", grouped=True, limit=256 << 20) as (process, watch):
        assert watch.account() == {}
        assert process.cgroup is not None
        # With swap accounted for, its limit is raised first: the other may not be above it.
        for name in ("memory.memsw.limit_in_bytes", "memory.limit_in_bytes", "memory.max"):
            file = process.cgroup.paths["memory"] / name
            if file.exists():
                file.write_text(str(512 << 20))
        assert watch.account()["memory_limit"] == 512 << 20


def test_children_of_the_lab_are_no_strays(tmp_path: Path) -> None:
    with started(tmp_path, "pass") as (_, watch):
        other = start_process(["sleep", "30"], env={"PATH": os.defpath}, cwd=tmp_path, log=tmp_path / "other")
        try:
            assert watch.account() == {}
        finally:
            other.stop(5)


HELPED = """
if os.fork() == 0:
    os.setsid()
"""


@pytest.mark.parametrize("grouped", [False, pytest.param(True, marks=GROUPED)])
def test_a_helper_of_one_server_is_no_stray_of_another_when_it_is_orphaned(tmp_path: Path, grouped: bool) -> None:
    (tmp_path / "neighbour").mkdir()
    with started(tmp_path / "neighbour", "pass") as (_, watch), started(tmp_path, HELPED, grouped=grouped) as (one, _):
        helper = next(process.pid for process in one.tree() if process.pid != one.pid)
        os.kill(one.pid, signal.SIGKILL)
        one.popen.wait()
        assert psutil.Process(helper).ppid() == os.getpid()
        assert watch.account() == {}
        assert [name for name in one.left_behind() if name.startswith(str(helper))]
    assert not psutil.pid_exists(helper) or psutil.Process(helper).status() == psutil.STATUS_ZOMBIE


@GROUPED
def test_one_that_writes_its_cgroups_files(tmp_path: Path) -> None:
    deed = (
        "own = dict(line.rsplit(':', 2)[1:] for line in open('/proc/self/cgroup').read().split())\n"
        "places = ['/sys/fs/cgroup/cpu' + own.get('cpu', own.get('cpu,cpuacct', ''))]\n"
        "places += ['/sys/fs/cgroup' + own.get('', '')]\n"
        "for place, name, value in zip(places, ['cpu.shares', 'cpu.weight'], ['2048', '200']):\n"
        "    if os.path.exists(f'{place}/{name}'):\n"
        "        open(f'{place}/{name}', 'w').write(value)"
    )
    found = account(tmp_path, deed, grouped=True)
    assert found.keys() == {"changed"}
    assert next(iter(found["changed"].values())) in (["1024", "2048"], ["100", "200"])


def test_hard_limits_and_oom_scores_that_are_better_than_those_given(tmp_path: Path) -> None:
    deed = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_MSGQUEUE, (1000, 1000))\n"
        "open('/proc/self/oom_score_adj', 'w').write('900')"
    )
    with started(tmp_path, deed) as (process, _):
        given = GrantedResources(None, process.pid, inherits=False)
        assert given.changed([process.pid]) == {}
        changed = given.changed([os.getpid()])
    own = Path("/proc/self/oom_score_adj").read_text().strip()
    assert changed.pop("oom_score_adj") == ["900", own]
    assert changed.pop("Max msgqueue size (hard limit)")[0] == "1000"
    assert changed == {}


def test_an_engine_under_another_nice_value(tmp_path: Path) -> None:
    given, usual = GrantedResources(None, os.getpid(), inherits=True), os.getpriority(os.PRIO_PROCESS, 0)
    with started(tmp_path, "os.nice(3)"):
        assert given.changed([]) == {}
    (tmp_path / "ready").unlink()
    with started(tmp_path, "os.nice(3)\nopen('/proc/self/comm', 'w').write('touchstone-engine')"):
        assert given.changed([]) == {"nice value of the engine": [str(usual), str(usual + 3)]}
        # An earlier contender has done that.
        assert GrantedResources(None, os.getpid(), inherits=True).changed([]) == {}


def test_a_soft_limit_may_be_raised(tmp_path: Path) -> None:
    deed = (
        "import resource\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))"
    )
    assert account(tmp_path, deed) == {}


@GROUPED
def test_memory_that_waits_in_pipes(tmp_path: Path) -> None:
    deed = (
        "import fcntl\n"
        "for _ in range(16):\n"
        "    reads, writes = os.pipe()\n"
        "    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 1 << 20)\n"
        "    os.write(writes, bytes(1 << 20))"
    )
    with started(tmp_path, deed, grouped=True) as (_, watch):
        time.sleep(2 * _INTERVAL_S)
        assert watch.account()["kernel"] > 12 << 20


_POLLS = """
import ctypes
params = (ctypes.c_uint * 40)(0, 0, 2 | 4, %d, 2000)  # IORING_SETUP_SQPOLL and IORING_SETUP_SQ_AFF, sq_thread_cpu
assert ctypes.CDLL(None).syscall(425, 4, params) > 0  # io_uring_setup
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_the_polling_thread_that_io_uring_puts_elsewhere_has_its_name(tmp_path: Path) -> None:
    given, other, *_ = sorted(os.sched_getaffinity(0))
    try:
        found = account(tmp_path, _POLLS % other, cpus=[given])
    except AssertionError as error:
        pytest.skip(f"no io_uring here: {error}")
    (thread,) = found["beyond_cpus"]
    assert thread["name"].startswith("iou-sqp-")
    assert thread["cpus"] == [other]
