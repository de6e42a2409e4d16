"""Free ports, and who holds one."""

from __future__ import annotations

import socket
from collections.abc import Iterable

import psutil


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def listeners(port: int) -> set[int | None]:
    """The ids of the processes that listen on a TCP port; None stands for one that we may not see."""
    return {
        connection.pid
        for connection in psutil.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
    }


def foreign_listener(port: int, ours: Iterable[int]) -> str | None:
    """Who listens on `port` though it is none of `ours`, in words; None if all is well."""
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


def ports_of(pids: Iterable[int]) -> list[int]:
    """The ports that these processes listen on: for a server that took another one than it was told."""
    own = set(pids)
    return sorted(
        {
            c.laddr.port
            for c in psutil.net_connections("tcp")
            if c.status == psutil.CONN_LISTEN and c.pid in own and c.laddr
        }
    )
