"""A service that somebody else started: what can be known of it early, and how it is asked."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psutil

from touchstone.bench.base import Bench
from touchstone.bench.waiting import OtherProtocol
from touchstone.contract.values import ValueSource
from touchstone.dependency.base import Dependency
from touchstone.engine.ask import AskedService, pasted_url
from touchstone.engine.client import EngineError
from touchstone.engine.job import watch
from touchstone.engine.protocol import Watch
from touchstone.failure import UsageError
from touchstone.isolation.cgroup import Cgroup, find_cgroup
from touchstone.isolation.port import listeners
from touchstone.isolation.process import StartError, lives
from touchstone.manifest.outside import ExternalService, is_loopback
from touchstone.manifest.spoken import SpokenProtocol
from touchstone.record.process import Process
from touchstone.record.secret import shown_command

_READY_WITHIN_S = 5.0
"""It runs already: a wrong answer is its answer, unless a load has just ended."""


@dataclass(frozen=True)
class AttachedService:
    """A service that somebody else started, and that gives correct responses."""

    reference: ExternalService
    pid: int | None
    cgroup: Cgroup | None
    unwatched: str | None
    spoken: SpokenProtocol
    since: float | None
    """When the process was created, so that another with its id is not taken for it."""
    outlives_rounds: bool = True
    leftovers: Mapping[str, list[str]] = field(default_factory=dict)
    dependencies: Mapping[str, Dependency] = field(default_factory=dict)
    """None: what the service talks to, touchstone did not start, and does not know."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.reference.origin

    @property
    def service(self) -> AskedService:
        """The same, for the contract check."""
        return AskedService(self.reference.origin, spoken=self.spoken)

    @property
    def address(self) -> str:
        """The address of its host that receives all requests, as IP:PORT."""
        return self.service.address()

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The service's host, if it was allowed."""
        return (self.reference.host,) if self.reference.allowed else ()

    def exited(self) -> str | None:
        """The message that its process is gone; None while it lives or is unknown."""
        if self.pid is None:
            return None
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            if process.create_time() == self.since and lives(process):
                return None
        return f"process {self.pid} has ended"

    def watch(self, after_s: float) -> Watch | None:
        """The service's process tree, without a CPU set, since touchstone gave it none."""
        if self.pid is None:
            return None
        folders = [str(folder) for folder in self.cgroup.folders] if self.cgroup else []
        return watch(self.pid, folders, (), after_s=after_s)


def read_outside(name: str, text: str) -> ExternalService:
    """A service by its URL, of which process and group are not known. Raises UsageError if it is not a server's."""
    url = pasted_url(text)
    if url.target != "/":
        raise UsageError(f"{text} has a path, but the scenario gives the paths", fix=f"write {url.origin}")
    return ExternalService(name, url.origin, url.host, url.port, url.socket)


def inspect_outside(service: ExternalService) -> None:
    """Raise UsageError for what is wrong with a service before anything is measured: host, address, process, group."""
    if not service.allowed and not any(map(_is_local, _addresses(service))):
        raise _not_allowed(service)
    try:
        local = _is_local(AskedService(service.origin).address())
    except EngineError as error:
        raise UsageError(
            f"nothing listens at {service.origin}: {error.what}",
            where=service.name,
            fix="start the service, or correct the address",
        ) from error
    if not local and not service.allowed:
        raise _not_allowed(service)
    if not local and (service.pid is not None or service.cgroup is not None):
        raise UsageError(
            f"{service.name} is not on this machine, so its processes cannot be read",
            fix="leave out --pid and --cgroup for it",
        )
    if service.pid is not None and not psutil.pid_exists(service.pid):
        raise UsageError(
            f"there is no process {service.pid}",
            where=service.name,
            fix=_who_listens(service),
        )
    if service.cgroup is not None and not _members(service):
        raise UsageError(
            f"there is no control group {service.cgroup} with a process in it",
            where=service.name,
            fix="give its folder below /sys/fs/cgroup; /proc/PID/cgroup tells the path",
        )


@contextmanager
def attached(
    bench: Bench, reference: ExternalService, record: Process, spoken: SpokenProtocol
) -> Iterator[AttachedService]:
    """The service, once it answers `ready` as the scenario says. It is left running. Raises StartError."""
    group = find_cgroup(reference.cgroup) if reference.cgroup else None
    pid = reference.pid if reference.pid is not None else _oldest(group)
    since = None
    if pid is not None:
        with suppress(psutil.NoSuchProcess):
            since = psutil.Process(pid).create_time()
    record.placement = bench.placement.model_copy(
        update={"server_cpus": _cpus_of(pid), "dependency_cpus": [], "cgroup": str(reference.cgroup or "") or None}
    )
    record.argv = _command_of(pid)
    unwatched = None if pid is not None else f"touchstone did not start it; {_who_listens(reference)}"
    found = AttachedService(reference, pid, group, unwatched, spoken, since)
    if gone := found.exited():
        raise StartError(gone, fix="start the service again and give its process id with --pid")
    _wait(bench, found)
    record.left_out += _not_given(bench)
    yield found
    record.server_exit = found.exited()


def _wait(bench: Bench, found: AttachedService) -> None:
    ready, values = bench.scenario.ready, ValueSource(bench.seed)
    otherwise = OtherProtocol(found.service, found.spoken)
    deadline = time.monotonic() + _READY_WITHIN_S
    while True:
        answer = found.service.exchange(ready, values.next())
        if not answer.faults:
            return
        if answer.failure and (other := otherwise.look(answer)):
            raise StartError(f"{found.url}: {other}", fix="correct the URL, or `protocol` and `tls` in scenario.toml")
        if time.monotonic() >= deadline:
            break
        time.sleep(0.05)
    shown = "" if answer.failure else f" (received {answer})"
    raise StartError(
        f"{found.url} does not answer {ready.method} {ready.target} as the scenario says: "
        f"{'; '.join(answer.faults)}{shown}",
        fix="check that this is the scenario's service, and that [ready] in scenario.toml is right",
    )


def _not_given(bench: Bench) -> Iterator[str]:
    """What touchstone gives to every contender that it starts."""
    if bench.scenario.settings:
        yield f"the scenario's settings were not given to it: {', '.join(bench.scenario.settings)}"
    if bench.scenario.dependencies:
        names = ", ".join(bench.scenario.dependencies)
        yield f"its dependencies were not reset, and cannot be asked about its work: {names}"


def _not_allowed(service: ExternalService) -> UsageError:
    return UsageError(
        f"{service.host} is not this machine: touchstone loads only this machine unless another host is allowed",
        where=service.name,
        fix=f"if you may load it, add --allow-host {service.host}",
    )


def _addresses(service: ExternalService) -> list[str]:
    try:
        return AskedService(service.origin).addresses()
    except EngineError as error:
        raise UsageError(
            f"there is no host {service.host!r}: {error.what}", where=service.name, fix="correct the address"
        ) from error


def _is_local(address: str) -> bool:
    return address.startswith("unix:") or is_loopback(address.rpartition(":")[0].strip("[]"))


def _who_listens(service: ExternalService) -> str:
    """How to read its memory and CPU, with the listening process where that can be seen."""
    words = f"--pid {service.name}=PID or --cgroup {service.name}=PATH"
    if service.socket is not None:
        return f"name its process by {words}"
    with suppress(psutil.Error):
        held = sorted(pid for pid in listeners(service.port) if pid is not None)
        if held and any(map(_is_local, _addresses(service))):
            return f"name its process by {words}; process {held[0]} ({psutil.Process(held[0]).name()}) has its port"
    return f"name its process by {words}"


def _members(service: ExternalService) -> list[int]:
    group = find_cgroup(service.cgroup) if service.cgroup else None
    return group.pids() if group else []


def _oldest(group: Cgroup | None) -> int | None:
    """The process of a group from which its tree is read: the one that was there first."""
    ages = {}
    for pid in group.pids() if group else []:
        with suppress(psutil.NoSuchProcess):
            ages[pid] = psutil.Process(pid).create_time()
    return min(ages, key=lambda pid: (ages[pid], pid), default=None)


def _command_of(pid: int | None) -> list[str]:
    """How it was started, where that can be seen. Its environment is its own, and is not read."""
    with suppress(psutil.Error):
        return list(shown_command(psutil.Process(pid).cmdline())) if pid is not None else []
    return []


def _cpus_of(pid: int | None) -> list[int]:
    """Where it may run, by the kernel's word; empty if nobody knows."""
    with suppress(OSError):
        return sorted(os.sched_getaffinity(pid)) if pid else []
    return []
