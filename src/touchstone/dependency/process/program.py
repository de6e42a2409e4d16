"""The program itself: one that touchstone starts, fresh as often as it is wanted, or one that somebody else runs."""

from __future__ import annotations

import shutil
import socket
import time
from contextlib import suppress

from touchstone.dependency.base import DependencyContext, DependencyError
from touchstone.dependency.process.commands import ProgramCommands
from touchstone.dependency.process.settings import ProgramSettings, host_and_port
from touchstone.isolation.family import family, resident
from touchstone.isolation.port import free_port, ports_of
from touchstone.isolation.process import ServerProcess, StartError, start_process, tail

_HOST = "127.0.0.1"
_STOP_S = 10.0
_DISCARD_S = 2.0
"""A program that will be recreated need not save anything."""
_LINES = 10


class OwnProgram:
    """Started by touchstone in its own folder, on its own port and the dependencies' CPUs."""

    outside = False

    def __init__(self, name: str, label: str, context: DependencyContext, settings: ProgramSettings) -> None:
        self.settings = settings
        self.commands = ProgramCommands(name, context, context.folder / label)
        self._log = context.log_folder / f"{label}.log"
        self._process: ServerProcess | None = None
        self._port = 0

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.exited() is None

    @property
    def places(self) -> dict[str, str]:
        """Where it listens."""
        return {"host": _HOST, "port": str(self._port)}

    def make(self, settings: ProgramSettings) -> None:
        """Start it fresh: with an empty folder, on another port, prepared. Raises DependencyError."""
        self._end(_DISCARD_S)
        self.settings = settings
        folder = self.commands.folder
        try:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
        except OSError as error:
            raise DependencyError(f"its folder cannot be emptied: {error}", where=self._where) from error
        self._port = free_port(_HOST)
        try:
            self.start()
            self.commands.prepare(settings, self.places)
        except BaseException:
            self._end(_DISCARD_S)
            raise

    def start(self) -> None:
        """Start it if it is down, with what its folder holds, and wait for it. Raises DependencyError."""
        if self.running:
            return
        line = self.commands.line(self.settings.run, self.places)
        folder = self.commands.folder
        try:
            self._process = process = start_process(
                line, env=self.commands.environment(), cwd=folder, log=self._log, cpus=self.commands.context.cpus
            )
        except StartError as error:
            raise DependencyError(error.what, where=f"{self._where}: {error.where}", fix=error.fix) from error
        until = time.monotonic() + self.settings.ready_s
        while time.monotonic() < until and process.exited() is None:
            if _accepts(_HOST, self._port):
                return
            time.sleep(0.01)
        why, fix = self._unready(process)
        raise DependencyError(f"it {why}{self._last_lines()}", where=self._where, fix=f"{fix}: {' '.join(line)}")

    def stop(self) -> None:
        """End it; its folder stays as it is."""
        self._end(_STOP_S)

    def remove(self) -> None:
        """End it and remove its folder, and its log if it said nothing."""
        self._end(_DISCARD_S)
        shutil.rmtree(self.commands.folder, ignore_errors=True)
        with suppress(OSError):
            if self._log.stat().st_size == 0:
                self._log.unlink()

    def see_that_it_runs(self) -> None:
        """Raise DependencyError with the end of its log if it does not."""
        if self._process is None:
            raise DependencyError("it is down", where=self._where, fix="start it before it is used")
        if (how := self._process.exited()) is not None:
            raise DependencyError(
                f"it {how}{self._last_lines()}", where=self._where, fix="its log is kept with the results"
            )

    def pids(self) -> list[int]:
        """The root of its process tree."""
        return [self._process.pid] if self._process is not None and self.running else []

    def memory(self) -> int:
        """RSS of its process tree in bytes."""
        return sum(resident(family(pid)) for pid in self.pids())

    def described(self) -> dict[str, str]:
        """What runs, for the record."""
        return {"program": self.commands.line(self.settings.run[:1], self.places)[0]}

    @property
    def _where(self) -> str:
        return f"dependency {self.commands.name}, log {self._log}"

    def _end(self, patience_s: float) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.stop(patience_s)

    def _unready(self, process: ServerProcess) -> tuple[str, str]:
        """Why it is not ready, and what to do."""
        if (how := process.exited()) is not None:
            return f"{how} before its port accepted a connection", "it must stay in the foreground; run it by hand"
        elsewhere = ports_of(member.pid for member in process.tree())
        if elsewhere:
            return f"listens on port {elsewhere[0]} instead of {self._port}", "give it {port} as its port"
        within = f"within {self.settings.ready_s:g} s"
        return f"accepted no connection on port {self._port} {within}", "raise `ready_s`, or run it by hand"

    def _last_lines(self) -> str:
        lines = tail(self._log, _LINES)
        return f": {' / '.join(lines)}" if lines else ", and said nothing"


class OutsideProgram:
    """One that somebody else started, and named by its address: used, and prepared if the scenario says how."""

    outside = True
    running = True

    def __init__(self, name: str, context: DependencyContext, settings: ProgramSettings) -> None:
        self._name = name
        self._context = context
        self.settings = settings
        self.commands = ProgramCommands(name, context, context.folder)

    @property
    def places(self) -> dict[str, str]:
        """Where it listens."""
        host, port = host_and_port(self.settings.address) or ("", 0)
        return {"host": host, "port": str(port)}

    def make(self, settings: ProgramSettings) -> None:
        """See that it accepts connections, and prepare it. Raises DependencyError."""
        self.settings = settings
        self._context.folder.mkdir(parents=True, exist_ok=True)
        self.start()
        self.commands.prepare(settings, self.places)

    def start(self) -> None:
        """See that it accepts connections. Raises DependencyError."""
        host, port = self.places["host"], int(self.places["port"])
        until = time.monotonic() + self.settings.ready_s
        while not _accepts(host, port):
            if time.monotonic() > until:
                raise DependencyError(
                    f"nothing accepts connections at {host}:{port}",
                    where=f"dependency {self._name}",
                    fix="start it, or correct its `address`; with `run` touchstone starts one itself",
                )
            time.sleep(0.1)

    def stop(self) -> None:
        """It is not touchstone's to stop."""
        raise DependencyError(
            "touchstone does not stop what somebody else runs",
            where=f"dependency {self._name}",
            fix="write `run`, and touchstone starts one itself",
        )

    def remove(self) -> None:
        """Nothing of it is touchstone's."""

    def see_that_it_runs(self) -> None:
        """Nobody is asked: it was reached when the contender started."""

    def pids(self) -> list[int]:
        """None that are touchstone's."""
        return []

    def memory(self) -> int:
        """Not known."""
        return 0

    def described(self) -> dict[str, str]:
        """What runs, for the record."""
        return {"program": f"outside, at {self.places['host']}:{self.places['port']}"}


def _accepts(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=1.0):
        return True
    return False
