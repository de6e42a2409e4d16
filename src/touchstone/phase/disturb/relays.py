"""The relays before the dependencies that a load disturbs, and their faults."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from touchstone.bench.base import Bench
from touchstone.dependency.base import Dependency, DependencyError
from touchstone.engine.protocol import Act
from touchstone.engine.relay import Relay
from touchstone.isolation.port import free_port
from touchstone.manifest.disturbance import Disturbance
from touchstone.manifest.load import Load
from touchstone.record.evidence.disturb import RelayCounts
from touchstone.vocabulary.dependency import DEPENDENCIES

_HOST = "127.0.0.1"
_ROUND_TRIPS = 200
_PASS: Act = {"kind": "pass"}


@dataclass(frozen=True)
class Disturbed:
    """A dependency that a load disturbs, and the relay before it, if any."""

    dependency: Dependency
    relay: Relay | None

    def aim(self) -> None:
        """Have the relay connect to the dependency as it listens now. Raises DependencyError."""
        if self.relay is not None:
            host, port = self.dependency.relayed_to()
            self.relay.aim(_address(host, self.dependency.name), port)

    def counts(self) -> RelayCounts | None:
        """What the relay has counted; None without one."""
        return self.relay.count().counts if self.relay else None

    @contextmanager
    def fault(self, one: Disturbance) -> Iterator[None]:
        """A context in which the dependency has this fault."""
        if one.act in DEPENDENCIES[self.dependency.kind].own_faults:
            with self.dependency.fault(one.act, one.model_dump()):
                yield
            return
        assert self.relay is not None  # the manifest's own validation
        self.relay.act(_order(one))
        try:
            yield
        finally:
            self.relay.act(_PASS)

    def cpu_s(self) -> float:
        """CPU seconds of the relay until now."""
        return self.relay.cpu_s() if self.relay else 0.0


@contextmanager
def disturbed(bench: Bench, load: Load) -> Iterator[dict[str, Disturbed]]:
    """The load's disturbed dependencies by name; services that start meanwhile are given their relays' addresses."""
    found: dict[str, Disturbed] = {}
    with ExitStack() as stack:
        for name in dict.fromkeys(one.dependency for one in load.disturb):
            dependency = bench.dependencies[name]
            port = dependency.context.relay_port
            if port is None:
                found[name] = Disturbed(dependency, None)
                continue
            relay = stack.enter_context(Relay(_HOST, port, bench.placement.dependency_cpus))
            found[name] = Disturbed(dependency, relay)
            dependency.relay = relay.place
            stack.callback(setattr, dependency, "relay", None)
        yield found


def round_trip_s(cpus: Sequence[int]) -> float:
    """By how much a relay lengthens a round trip of one byte, in seconds: medians with and without it."""
    with socket.create_server((_HOST, 0)) as listener:
        host, port = listener.getsockname()
        threading.Thread(target=_echo, args=(listener,), daemon=True).start()
        with Relay(_HOST, free_port(_HOST), cpus) as relay:
            relay.aim(host, str(port))
            return max(0.0, _median_s((relay.place[0], int(relay.place[1]))) - _median_s((host, port)))


def _median_s(address: tuple[str, int]) -> float:
    took = []
    with socket.create_connection(address, 10) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(_ROUND_TRIPS):
            begin = time.perf_counter()
            client.sendall(b"x")
            client.recv(1)
            took.append(time.perf_counter() - begin)
    return statistics.median(took)


def _echo(listener: socket.socket) -> None:
    for _ in range(2):
        client, _ = listener.accept()
        with client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := client.recv(64):
                client.sendall(data)


def _address(host: str, name: str) -> str:
    """The IP address of a host. Raises DependencyError."""
    if host.startswith("/"):
        raise DependencyError(
            f"it is reached by the socket in {host}, and `disturb` needs a port",
            where=f"dependency {name}",
            fix="name a host and a port in its address",
        )
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise DependencyError(f"{host} has no address: {error}", where=f"dependency {name}") from error


def _order(one: Disturbance) -> Act:
    """The fault in the protocol's form, with what the load leaves out filled in."""
    match one.act:
        case "stall":
            return {"kind": "stall"}
        case "refuse":
            return {"kind": "refuse"}
        case "reset":
            return {"kind": "reset"}
        case "slow":
            delay_s = (one.delay_ms or 100.0) / 1e3
            return {"kind": "slow", "delay_s": delay_s, "jitter_s": (one.jitter_ms or 0.0) / 1e3}
        case "slow-drip":
            return {"kind": "drip", "bytes_per_s": one.bytes_per_s or 20.0}
        case "full":
            return {"kind": "limit", "connections": 1 if one.connections is None else one.connections}
        case _:
            raise AssertionError(f"no relay does {one.act!r}")
