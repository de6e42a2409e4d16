"""Free ports, and who holds one."""

from __future__ import annotations

import contextlib
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import psutil

from touchstone.isolation.family import family

_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST, _HIGHEST = 10_000, 65_535
_TRIES = 100

_PASS_ON = ("docker-proxy", "rootlessport", "slirp4netns", "pasta", "conmon", "kubectl", "ssh", "socat")
"""Programs, by the beginning of their names, that listen for a service in another place."""


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody has at this moment, and that no outgoing connection is given.

    A runtime that takes seconds to start, and a database that is stopped and started again, find it free still: a port
    of the kernel's own choice may by then belong to one of a load's thousands of connections.
    """
    ports = _never_outgoing()
    for _ in range(_TRIES if ports else 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((host, secrets.choice(ports)))
            return int(probe.getsockname()[1])
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _never_outgoing() -> range:
    """Ports below or above the range that outgoing connections are given. Empty if that is not known, or is all."""
    try:
        low, high = (int(number) for number in _OUTGOING.read_text().split())
    except (OSError, ValueError):
        return range(0)
    return max(range(_LOWEST, low), range(high + 1, _HIGHEST + 1), key=len)


def listeners(port: int) -> set[int | None]:
    """The ids of the processes that listen on a TCP port. None stands for one that we may not see."""
    return {connection.pid for connection in psutil.net_connections("tcp") if _listens(connection, port)}


def _listens(connection: psutil._ntuples.sconn | psutil._ntuples.pconn, port: int) -> bool:
    return bool(connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port)


def listening_tree(port: int, address: str) -> int | None:
    """The root of the process tree that listens on an address and port of this machine.

    None if no process does, if it is not certain (a process that we may not see, several that are not of one tree), or
    if the process only passes connections on to the service.
    """
    found = _accepting(port, ip_address(address))
    pids = {pid for pid in found if pid is not None}
    with contextlib.suppress(psutil.Error):
        if not pids or len(pids) < len(found) or any(psutil.Process(pid).name().startswith(_PASS_ON) for pid in pids):
            return None
        roots = {_first_to_listen(psutil.Process(pid), port) for pid in pids}
        return next((pid for pid in sorted(roots) if roots <= {one.pid for one in family(pid)}), None)
    return None


def socket_tree(path: str) -> int | None:
    """The root of the process tree that has the Unix socket of this path. None if there is none, or several."""
    pids = {one.pid for one in psutil.net_connections("unix") if str(one.laddr) == path}
    held = {pid for pid in pids if pid is not None}
    with contextlib.suppress(psutil.Error):
        return next((pid for pid in sorted(held) if held <= {one.pid for one in family(pid)}), None)
    return None


def _first_to_listen(process: psutil.Process, port: int) -> int:
    """The process itself, or the one above it that has the same socket: of several that share one, psutil names one."""
    own = _places(process, port)
    # A parent of another user, such as init, may not be looked at, and shares no socket with the process.
    with contextlib.suppress(psutil.AccessDenied):
        parent = process.parent()
        while parent is not None and own & _places(parent, port):
            process, parent = parent, parent.parent()
    return process.pid


def _places(process: psutil.Process, port: int) -> set[str]:
    return {str(one.laddr[0]) for one in process.net_connections("tcp") if _listens(one, port) and one.laddr}


def _accepting(port: int, address: IPv4Address | IPv6Address) -> set[int | None]:
    """The processes that the kernel may give a connection to: those bound to the address, else those bound to any."""
    bound: set[int | None] = set()
    any_address: set[int | None] = set()
    for one in psutil.net_connections("tcp"):
        if not one.laddr or not _listens(one, port):
            continue
        host = ip_address(one.laddr[0])
        host = (host.ipv4_mapped or host) if isinstance(host, IPv6Address) else host
        if host == address:
            bound.add(one.pid)
        elif host.is_unspecified and host.version >= address.version:
            any_address.add(one.pid)
    return bound or any_address


def foreign_listener(port: int, ours: Iterable[int]) -> str | None:
    """Processes on `port` that are none of `ours`, in words; None if there are none."""
    own = set(ours)
    for pid in listeners(port) - own:
        if pid is None:
            return f"a process that we may not look at listens on port {port}"
        try:
            process = psutil.Process(pid)
            return f"process {pid} ({process.name()}) listens on port {port}, and is not the contender's"
        except psutil.NoSuchProcess:
            continue
    return None


@dataclass(frozen=True, order=True)
class Listener:
    """An address and a port that somebody listens on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_open(host: str, port: int) -> bool:
    """Whether a connection to it is accepted at once."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1.0):
        return True
    return False


def places_of(pids: Iterable[int]) -> list[Listener]:
    """Where these processes listen, for a server that ignored its given address."""
    own = set(pids)
    return sorted(
        {
            Listener(c.laddr.ip, c.laddr.port)
            for c in psutil.net_connections("tcp")
            if c.status == psutil.CONN_LISTEN and c.pid in own and c.laddr
        }
    )


def ports_of(pids: Iterable[int]) -> list[int]:
    """The ports that these processes listen on."""
    return sorted({place.port for place in places_of(pids)})
