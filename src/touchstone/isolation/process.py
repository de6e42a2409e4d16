"""A server process of ours: started apart from us, and ended with everything that it started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import secrets
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from touchstone.failure import TouchstoneError
from touchstone.isolation.cgroup import Cgroup
from touchstone.isolation.child import is_foreign, start_child
from touchstone.isolation.family import cpu_seconds, family
from touchstone.isolation.private_places import PrivatePlaces

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_UNTIL_KILLED_S = 5.0
"""The kernel may need a moment to end a killed process."""
_SERVERS: dict[int, ServerProcess] = {}
"""Servers that have not been stopped, by their ids: an orphan of one is not a stray of another."""
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])|[\x00-\x08\x0e-\x1f\x7f]"
)
"""Sequences of ECMA-48, such as colours and titles, and single control characters; a tab stays."""


class StartError(TouchstoneError):
    """A process could not be started, or did not become ready."""


@dataclass(frozen=True)
class Orphans:
    """What outlived the process that had started it."""

    lived: list[str]
    """Id and name of each that was there still."""
    cpu_s: float
    """CPU seconds that all had used, those included that had ended before."""


@dataclass(frozen=True)
class StopCpu:
    """CPU seconds of a process tree, by its cgroup."""

    before_s: float
    """CPU seconds of its whole life until the stop signal."""
    ending_s: float
    """From then until nothing of it was left."""


@dataclass
class ServerProcess:
    """A process in a session of its own. Ended by its id and those of its descendants, never by a name."""

    popen: subprocess.Popen[bytes]
    log: Path
    cgroup: Cgroup | None = None
    exit_code: int | None = field(default=None)
    exec_s: float = field(default_factory=time.monotonic)
    """When its program had been executed, on CLOCK_MONOTONIC."""
    earlier: frozenset[int] = frozenset()
    """Touchstone's children from before it was started."""
    known: set[int] = field(default_factory=set)
    """All that were seen in its tree."""
    cpu_at_end: StopCpu | None = None
    """Known once it has been stopped, where it has a cgroup of ours."""

    @property
    def pid(self) -> int:
        """The root process."""
        return self.popen.pid

    def exited(self) -> str | None:
        """How the root process ended, in words; None while it lives."""
        code = self.popen.poll()
        return None if code is None else describe_exit(code)

    def oom_kills(self) -> int | None:
        """How many of its processes the kernel killed for want of memory; None where nobody knows."""
        return self.cgroup.oom_kills() if self.cgroup else None

    def was_halted(self) -> bool:
        """Whether a signal stopped the root process since the last call, even if it runs again.

        The kernel keeps that for the parent (waitid(2), WCONTINUED); a tracer's stops are not among it.
        """
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WCONTINUED | os.WNOHANG) is not None
        return False

    def tree(self) -> list[psutil.Process]:
        """Its processes: descendants, and members of its session or its cgroup."""
        pids = set(self.cgroup.pids()) if self.cgroup else set()
        pids |= {process.pid for process in family(self.pid)}
        for process in psutil.process_iter():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getsid(process.pid) == self.pid:
                    pids.add(process.pid)
        self.known |= pids
        found = []
        for pid in pids:
            with contextlib.suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
        return found

    def strays(self, members: Collection[int]) -> list[int]:
        """Orphans that have left session and cgroup alike: touchstone is their subreaper, so that they fall to it.

        `members` are the processes of the tree. Zombies among the orphans are put to rest.
        """
        found = []
        for child in self._reparented():
            if child.pid in members:
                continue
            if lives(child):
                found += [one.pid for one in family(child.pid)]
            else:
                _put_to_rest(child.pid)
        return found

    def _reparented(self) -> list[psutil.Process]:
        """Processes and zombies of ended parents that were reparented to touchstone, in own sessions.

        What another server of ours is known to have started is not among it.
        """
        reparented = [c for c in psutil.Process().children() if c.pid not in self.earlier and is_foreign(c.pid)]
        others = [server for server in list(_SERVERS.values()) if server is not self] if reparented else []
        return [child for child in reparented if not any(other._started(child.pid) for other in others)]

    def _started(self, pid: int) -> bool:
        return pid in self.known or bool(self.cgroup and pid in self.cgroup.pids())

    def left_behind(self) -> list[str]:
        """Name and id of each process that lives on though the root has ended."""
        return [_named(process) for process in self._whole_tree() if process.pid != self.pid and lives(process)]

    def end_orphans(self, patience_s: float = 2.0) -> Orphans:
        """End what is left of the tree although its root has ended: SIGTERM first, SIGKILL after `patience_s`."""
        found = [one for child in self._reparented() for one in family(child.pid)]
        orphans = Orphans([_named(one) for one in found if lives(one)], sum(cpu_seconds(one) or 0.0 for one in found))
        signalled: set[int] = set()
        deadline = time.monotonic() + patience_s
        while (left := self.strays(())) and time.monotonic() < deadline + _UNTIL_KILLED_S:
            for pid in left:
                late = time.monotonic() >= deadline
                if late or pid not in signalled:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
                    signalled.add(pid)
            time.sleep(0.01)
        return orphans

    def stop(self, patience_s: float = 10.0, stopped_for_s: float | None = None) -> str:
        """End it: SIGTERM first, SIGKILL to what is left after `patience_s`. Returns how it ended, in words.

        One that has had SIGTERM for `stopped_for_s` seconds gets no second one, and no more time.
        """
        tree = self._whole_tree()
        used = self.cgroup.cpu_s() if self.cgroup else None
        self.popen.poll()
        if stopped_for_s is not None:
            patience_s = stopped_for_s
        elif self.popen.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.popen.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(patience_s)
        in_time = self.popen.returncode is not None
        left = [process for process in {*tree, *self._whole_tree()} if lives(process)]
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.popen.wait()
        deadline = time.monotonic() + _UNTIL_KILLED_S
        while any(lives(process) for process in left) and time.monotonic() < deadline:
            time.sleep(0.005)
        for pid in self.known - {self.pid}:
            if is_foreign(pid):
                _put_to_rest(pid)
        if self.cgroup:
            deadline = time.monotonic() + _UNTIL_KILLED_S
            while self.cgroup.pids() and time.monotonic() < deadline:
                time.sleep(0.01)
            if used is not None and (whole := self.cgroup.cpu_s()) is not None:
                self.cpu_at_end = StopCpu(used, max(0.0, whole - used))
            self.cgroup.remove()
        _SERVERS.pop(self.pid, None)
        how = describe_exit(self.popen.returncode)
        return how if in_time else f"killed: it had not ended {patience_s:g} s after SIGTERM"

    def _whole_tree(self) -> list[psutil.Process]:
        """The tree with those who left it."""
        tree = self.tree()
        for pid in self.strays({process.pid for process in tree}):
            with contextlib.suppress(psutil.NoSuchProcess):
                tree.append(psutil.Process(pid))
        return tree

    def tail(self, lines: int = 20) -> list[str]:
        """The last lines of its log."""
        return tail(self.log, lines)


def _put_to_rest(pid: int) -> None:
    """Reap a process that was reparented to touchstone. Others are left alone."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def lives(process: psutil.Process) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _named(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return f"{process.pid} ({process.name()})"
    return str(process.pid)


def tail(log: Path, lines: int = 20, begin: int = 0) -> list[str]:
    """The last lines of a file that say something, without what a terminal would obey. None if it is not there.

    Only what comes after its first `begin` bytes counts.
    """
    try:
        with log.open("rb") as stream:
            stream.seek(max(begin, log.stat().st_size - 65536))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return []
    plain = (_CONTROL.sub("", line) for line in text.splitlines())
    return [line for line in plain if line.strip()][-lines:]


def describe_exit(code: int) -> str:
    """An exit status in words."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-code).name}"
        return f"ended by signal {-code}"
    return f"exited with code {code}"


def _nameless(log: Path) -> IO[bytes]:
    """The log, to be appended to, opened by a name that is gone: a process that writes to it could read from the link
    of its standard output that it is being measured.
    """
    log.touch()
    other = log.with_name(f".{secrets.token_hex(6)}")
    try:
        os.link(log, other)
    except OSError:  # not every file system has hard links
        return log.open("ab")
    try:
        return other.open("ab")
    finally:
        other.unlink()


def start_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    log: Path,
    cpus: Sequence[int] = (),
    cgroup: Cgroup | None = None,
    user: str | None = None,
    places: PrivatePlaces | None = None,
) -> ServerProcess:
    """Start a process in a session of its own, on its CPUs and in its cgroup.

    It dies if touchstone dies.

    With `places` it has a mount namespace of its own, in which these are private.

    Raises StartError if the program cannot be executed.
    """
    procs = [str(folder / "cgroup.procs") for folder in cgroup.folders] if cgroup else []
    if cgroup is not None:
        cgroup.given = cgroup.controls()

    def prepare() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # What the mounts take of the kernel's memory is not the server's.
        if places:
            places.enter()
        own = str(os.getpid()).encode()
        for path in procs:
            descriptor = os.open(path, os.O_WRONLY)
            os.write(descriptor, own)
            os.close(descriptor)
        if cpus:
            os.sched_setaffinity(0, cpus)

    log.parent.mkdir(parents=True, exist_ok=True)
    # A server that forks twice and leaves session and cgroup is an orphan, and falls to touchstone.
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    earlier = frozenset(child.pid for child in psutil.Process().children())
    try:
        with _nameless(log) as stream:
            popen = start_child(
                argv,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                # It only makes system calls, and touchstone starts it from its main thread.
                preexec_fn=prepare,
                user=user,
            )
    except (OSError, subprocess.SubprocessError) as error:
        if cgroup:
            cgroup.remove()
        raise StartError(
            f"it cannot be started: {error}",
            where=" ".join(argv[:3]),
            fix="see that the program exists and may be executed",
        ) from error
    server = _SERVERS[popen.pid] = ServerProcess(popen, log, cgroup, earlier=earlier)
    return server
