"""Disturbances of the machine while a set-up is measured: each is bounded, and ends with its process ids."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
from rich.console import Console

from tests.faults.plan import compiled
from touchstone.engine.client import Event
from touchstone.record.sample import Sample

_LONGEST_S = 60.0


class Stage:
    """A display that writes to a log, and tells a disturbance which measurement begins."""

    def __init__(self, on_step: Callable[[str], None] = lambda _text: None) -> None:
        self.on_step = on_step
        self.console = Console(quiet=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def total(self, steps: int) -> None:
        pass

    def longer(self, steps: int) -> None:
        pass

    def stage(self, text: str) -> None:
        self.console.print(text)

    def step(self, text: str) -> None:
        self.console.print(text)
        self.on_step(text)

    def advance(self) -> None:
        pass

    def begins(self, sample: Sample) -> None:
        pass

    def measured(self, sample: Sample) -> None:
        pass

    def event(self, event: Event) -> None:
        pass

    def say(self, text: str) -> None:
        self.console.print(text)


def _loads(text: str) -> bool:
    """Whether a step is a part of a load: in whole windows one, in turns its warm-up and each lap."""
    return text.startswith(("loading", "warming up for")) or ": lap " in text


def _burn(cpus: set[int], share: float) -> None:
    # Where the scheduler groups by session, all burners of the lab's session would count as one.
    os.setsid()
    os.sched_setaffinity(0, cpus)
    end = time.monotonic() + _LONGEST_S
    while time.monotonic() < end and os.getppid() != 1:
        busy = time.monotonic() + 0.01 * share
        while time.monotonic() < busy:
            pass
        time.sleep(0.01 * (1 - share))


class Burners:
    """Processes that burn CPU, as any other user of the machine would."""

    def __init__(self) -> None:
        self._alive: list[BaseProcess] = []

    def start(self, cpu: int, share: float = 1.0) -> None:
        """Burn a share of a CPU's time from now on, at most a minute."""
        process = multiprocessing.get_context("fork").Process(target=_burn, args=({cpu}, share), daemon=True)
        process.start()
        self._alive.append(process)

    def stop(self) -> None:
        """End them all."""
        for process in self._alive:
            process.kill()
            process.join()
        self._alive.clear()


def _cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


@contextmanager
def none() -> Iterator[Stage]:
    """Nothing is disturbed."""
    yield Stage()


@contextmanager
def other_work() -> Iterator[Stage]:
    """Two processes of somebody else burn CPU on the server's CPU for the whole run."""
    burners = Burners()
    try:
        for cpu in _cpus():
            burners.start(cpu, 0.5)
        yield Stage()
    finally:
        burners.stop()


@contextmanager
def crowded_engine() -> Iterator[Stage]:
    """Four processes of somebody else on the engine's CPU while contenders are loaded."""
    burners = Burners()

    def begin(text: str) -> None:
        if not _loads(text):
            burners.stop()
        elif text.startswith("loading"):
            for _ in range(4):
                burners.start(_cpus()[-1])

    try:
        yield Stage(begin)
    finally:
        burners.stop()


@contextmanager
def busy_engine() -> Iterator[Stage]:
    """A process of somebody else takes turns with the engine on its CPU for the whole run."""
    burners = Burners()
    try:
        burners.start(_cpus()[-1], 0.6)
        yield Stage()
    finally:
        burners.stop()


@contextmanager
def crowded_tares() -> Iterator[Stage]:
    """Somebody else is on the CPUs during the tares, and gone when the contender comes."""
    burners = Burners()

    def begin(text: str) -> None:
        burners.stop()
        if text.startswith("tare"):
            for cpu in _cpus() * 8:
                burners.start(cpu)

    try:
        yield Stage(begin)
    finally:
        burners.stop()


def _tares(shares: list[int]) -> Iterator[Stage]:
    """Processes burn CPU next to each null server load in turn, as part of a round."""
    burners = Burners()
    left = list(shares)

    def begin(text: str) -> None:
        if not _loads(text):
            burners.stop()
        elif text.startswith("loading") and left:
            for _ in range(left.pop(0)):
                for cpu in _cpus():
                    burners.start(cpu)

    try:
        yield Stage(begin)
    finally:
        burners.stop()


@contextmanager
def drift() -> Iterator[Stage]:
    """The machine gets slower from tare to tare."""
    yield from _tares([0, 1, 3, 6, 12, 24])


@contextmanager
def cpu_without_load() -> Iterator[Stage]:
    """The machine is now quiet and now busy, tare by tare."""
    yield from _tares([0, 8, 0, 16, 2, 4])


@contextmanager
def _signal_while_loading(kinds: frozenset[str], number: signal.Signals) -> Iterator[Stage]:
    """Three seconds into the load of a contender, an engine's process of these kinds gets the signal."""
    timers: list[threading.Timer] = []

    def send() -> None:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if not kinds.isdisjoint(child.cmdline()[1:2]):
                    child.send_signal(number)

    def begin(text: str) -> None:
        if text.startswith("loading"):
            timers.append(threading.Timer(3.0, send))
            timers[-1].start()

    try:
        yield Stage(begin)
    finally:
        for timer in timers:
            timer.cancel()


class SecondServer:
    """Starts a server of its own, next to the lab, on the port that a contender was given."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder = program, folder
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self._done = threading.Event()
        self._seeker = threading.Thread(target=self._seek, daemon=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "behaviour").write_text("reuse_port = 1\n")
        self._seeker.start()

    def _seek(self) -> None:
        while not self._done.wait(0.01):
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error, KeyError):
                    if child.name() == "program":
                        self._serve(child.environ()["PORT"])

    def _serve(self, port: str) -> None:
        if port not in self._servers:
            env = {"HOST": "127.0.0.1", "PORT": port}
            self._servers[port] = subprocess.Popen([self._program], cwd=self._folder, env=env)

    def stop(self) -> None:
        """End them all."""
        self._done.set()
        self._seeker.join()
        for server in self._servers.values():
            server.kill()
            server.wait()


@contextmanager
def second_server() -> Iterator[Stage]:
    """A server that is not the contender's listens on the contender's port."""
    with tempfile.TemporaryDirectory(prefix="touchstone-second-") as folder:
        second = SecondServer(compiled(Path(folder)), Path(folder) / "home")
        try:
            yield Stage()
        finally:
            second.stop()


def _accompany() -> None:
    """Burn some 40 % of a CPU whenever the contender with the knob `accompanied` works."""
    end, pid, seen = time.monotonic() + 2 * _LONGEST_S, 0, 0
    while time.monotonic() < end and os.getppid() != 1:
        try:
            ran = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
        except (OSError, IndexError):
            time.sleep(0.05)
            pid = next((p.pid for p in psutil.process_iter() if _is_accompanied(p)), 0)
            continue
        busy = time.monotonic() + (0.001 if ran - seen > 50_000 else 0.0)
        seen = ran
        while time.monotonic() < busy:
            pass
        time.sleep(0.0015)


def _is_accompanied(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        return process.name() == "program" and "accompanied" in Path(f"/proc/{process.pid}/cwd/behaviour").read_text()
    return False


@contextmanager
def accomplice() -> Iterator[Stage]:
    """A process that is none of the lab's works when the accompanied contender does, and only then."""
    process = multiprocessing.get_context("fork").Process(target=_accompany, daemon=True)
    process.start()
    try:
        yield Stage()
    finally:
        process.kill()
        process.join()


@contextmanager
def accomplice_without_idle_cpus() -> Iterator[Stage]:
    """The same, next to a niced process on each CPU that takes whatever is left."""
    spin = ["nice", "-n", "19", "sh", "-c", "while :; do :; done"]
    niced = [subprocess.Popen(spin) for _ in _cpus()]
    try:
        with accomplice() as stage:
            yield stage
    finally:
        for process in niced:
            process.kill()
            process.wait()


@contextmanager
def quota_elsewhere() -> Iterator[Stage]:
    """While a contender is loaded, it is in a cgroup that the lab did not make, with a fifth of a CPU (version 1)."""
    folder = Path("/sys/fs/cgroup/cpu") / f"somebodys-{os.getpid()}"
    folder.mkdir()
    (folder / "cpu.cfs_quota_us").write_text("20000")

    def begin(text: str) -> None:
        if text.startswith("loading"):
            threading.Thread(target=_move, args=(folder / "cgroup.procs",), daemon=True).start()

    try:
        yield Stage(begin)
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.02)


def _move(members: Path) -> None:
    """Put the contender, once the lab has put it where it wants it, into the cgroup whose list this is."""
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error, OSError):
                placed = ":cpu:/touchstone-" in Path(f"/proc/{child.pid}/cgroup").read_text()
                if child.name() == "program" and placed:
                    members.write_text(str(child.pid))
                    return
        time.sleep(0.01)


@contextmanager
def one_cpu() -> Iterator[Stage]:
    """The lab may use one CPU only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield Stage()
    finally:
        os.sched_setaffinity(0, before)


DISTURBANCES: dict[str, Callable[[], contextlib.AbstractContextManager[Stage]]] = {
    "none": none,
    "other-work": other_work,
    "busy-engine": busy_engine,
    "crowded-engine": crowded_engine,
    "crowded-tares": crowded_tares,
    "drift": drift,
    "cpu_without_load": cpu_without_load,
    "broken-off": partial(_signal_while_loading, frozenset({"load", "slices"}), signal.SIGINT),
    "downstream-killed": partial(_signal_while_loading, frozenset({"echo"}), signal.SIGKILL),
    "one-cpu": one_cpu,
    "quota-elsewhere": quota_elsewhere,
    "second-server": second_server,
    "accomplice": accomplice,
    "accomplice-without-idle-cpus": accomplice_without_idle_cpus,
}
