"""A second process of a contender that runs: what a rolling deployment starts before it ends the first."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from touchstone.bench.base import Bench, Built, Ports
from touchstone.bench.certificate import certificate_for
from touchstone.bench.own_places import own_places
from touchstone.bench.ports import ports_for
from touchstone.bench.service import StartedService, contender_environment, start_built
from touchstone.bench.waiting import wait_until_ready
from touchstone.isolation.port import Listener, listeners
from touchstone.isolation.process import ServerProcess, StartError
from touchstone.manifest.load import Load
from touchstone.record.process import Process


def shares_port(first: StartedService) -> bool:
    """Whether a second process may listen at the port of the first: both must set SO_REUSEPORT (socket(7)).

    The socket is bound and does not listen, so it is given no connections.
    """
    with socket.socket(socket.AF_INET6 if ":" in first.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            probe.bind((first.host, first.ports.main))
        except OSError:
            return False
    return True


@contextmanager
def second_process(
    bench: Bench, built: Built, first: StartedService, record: Process, *, under: Load, same_port: bool
) -> Iterator[tuple[ServerProcess, Listener]]:
    """Start a second process of a contender beside the first, and end it whatever happens.

    It has the same dependencies. Gives the process and where it listens: at the first one's ports if `same_port` is
    set, at ports of its own otherwise. Raises StartError.
    """
    ports = first.ports if same_port else ports_for(bench, built)
    certificate = certificate_for(bench, under.spoken)
    built = built.at(first.host, ports, certificate)
    env = contender_environment(bench, built, ports, certificate)
    memory_limit = under.memory_limit_mb * 2**20 if under.memory_limit_mb else None
    cpu_limit = under.cpus or bench.options.cpu_limit
    log = bench.log(record)
    with own_places(built, env, bench.store.folder) as places:
        process = start_built(
            bench, built, record, env, log=log, memory_limit=memory_limit, cpu_limit=cpu_limit, places=places
        )
        try:
            if same_port:
                _wait_until_listening(process, ports, bench.scenario.ready.within_s)
            else:
                wait_until_ready(bench, process, ports, bench.scenario.ready.within_s, under.spoken)
            yield process, Listener(first.host, ports.main)
        finally:
            process.stop()


def _wait_until_listening(process: ServerProcess, ports: Ports, within_s: float) -> None:
    """Wait until the process listens too: a request could be answered by either. Raises StartError."""
    deadline = time.monotonic() + within_s
    while not listeners(ports.main) & {member.pid for member in process.tree()}:
        if how := process.exited():
            raise StartError(f"the second process at port {ports.main} ended: {how}", fix=f"its log: {process.log}")
        if time.monotonic() > deadline:
            raise StartError(
                f"the second process did not listen at port {ports.main} within {within_s:g} s",
                fix=f"its log: {process.log}",
            )
        time.sleep(0.02)
