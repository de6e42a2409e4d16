"""Reads what a command line says of services that run already: `--url`, `--pid`, `--cgroup`, `--allow-host`."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from touchstone.bench.outside import read_outside
from touchstone.failure import UsageError
from touchstone.isolation.family import family
from touchstone.isolation.port import listening_tree, socket_tree
from touchstone.manifest.outside import ExternalService, is_loopback


def read_services(
    urls: Sequence[str], pids: Sequence[str], cgroups: Sequence[str], allowed_hosts: Sequence[str]
) -> list[ExternalService]:
    """The services in order, each with its process if named or found by its port.

    Raises UsageError for words that are no NAME=VALUE, or that name no service.
    """
    named = _pairs("--url", urls, "http://127.0.0.1:8080")
    by_pid = _pairs("--pid", pids, "1234")
    by_group = _pairs("--cgroup", cgroups, "/sys/fs/cgroup/system.slice/NAME.service")
    for option, given in (("--pid", by_pid), ("--cgroup", by_group)):
        for name in given:
            if name not in named:
                known = ", ".join(named) or "there is none"
                raise UsageError(f"{option} is for {name!r}, which no --url names", fix=f"name one of: {known}")
    hosts = [host.strip("[]").lower() for host in allowed_hosts]
    services = []
    for name, url in named.items():
        service = read_outside(name, url)
        group = by_group.get(name)
        services.append(
            dataclasses.replace(
                service,
                pid=_pid(name, by_pid.get(name)),
                cgroup=None if group is None else Path(group),
                allowed=service.host.lower() in hosts,
            )
        )
    for host in hosts:
        if all(service.host.lower() != host for service in services):
            raise UsageError(f"no --url has the host of --allow-host {host}", fix="leave it out, or correct it")
    return _with_processes(services)


def _with_processes(services: Sequence[ExternalService]) -> list[ExternalService]:
    """Give services without a named process the tree that listens, if none shares it."""
    found = {service.name: service.pid or _listening(service) for service in services if service.cgroup is None}
    complete = []
    for service in services:
        pid = found.get(service.name)
        others = {other for name, other in found.items() if other is not None and name != service.name}
        complete.append(service if pid is None or _shared(pid, others) else dataclasses.replace(service, pid=pid))
    return complete


def _listening(service: ExternalService) -> int | None:
    """The root of the process tree that listens at its address, if that is certain."""
    if service.socket is not None:
        return socket_tree(service.socket)
    return next(filter(None, (listening_tree(service.port, one) for one in _local_addresses(service))), None)


def _shared(pid: int, others: set[int]) -> bool:
    """Whether one tree holds another, so that work cannot be attributed. Also true if it is gone."""
    own = {process.pid for process in family(pid)}
    return not own or not own.isdisjoint(others) or any(pid == one.pid for other in others for one in family(other))


def _local_addresses(service: ExternalService) -> tuple[str, ...]:
    """The loopback addresses that a load may go to, the preferred one first. None of a service elsewhere."""
    if service.host == "localhost":
        return ("127.0.0.1", "::1")
    with suppress(ValueError):
        ipaddress.ip_address(service.host)
        return (service.host,) if is_loopback(service.host) else ()
    return ()


def _pairs(option: str, words: Sequence[str], example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name or not value:
            raise UsageError(f"{option} {word!r} has no name", fix=f"write it like {option} NAME={example}")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice", fix="give each service a name of its own")
        found[name] = value
    return found


def _pid(name: str, word: str | None) -> int | None:
    if word is None:
        return None
    if not word.isdecimal() or int(word) < 1:
        raise UsageError(
            f"--pid {name}={word} is not a process id", fix="give its number: `pgrep` and `ss -ltnp` print it"
        )
    return int(word)
