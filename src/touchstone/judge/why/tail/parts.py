"""The parts of a request's latency, in the order in which evidence for them counts."""

from __future__ import annotations

from enum import StrEnum


class LatencyPart(StrEnum):
    """What a request waits for, or what works on it."""

    CONNECTION = "waiting for a free connection"
    OPENING = "opening the connection, accept queue"
    GENERATOR = "load generator late"
    DEPENDENCY = "dependency"
    QUOTA = "stopped by the CPU quota"
    PAUSE = "runtime pause"
    DISK = "disk or file"
    RECLAIM = "page faults and memory reclaim"
    RUNTIME = "collector and compiler on the CPU"
    FOREIGN = "CPU taken by other processes"
    CPU = "server's own CPU"
    ACKNOWLEDGEMENT = "response held until an acknowledgement"
    SOCKET = "in the server's socket, unread"
    ASLEEP = "lock, pool or timer"
    REST = "rest"


HELP = {
    LatencyPart.CONNECTION: "more connections, or a shorter service time",
    LatencyPart.OPENING: "a longer accept queue (`listen` backlog, net.core.somaxconn), or threads that accept sooner",
    LatencyPart.GENERATOR: "a CPU of its own for the load generator",
    LatencyPart.DEPENDENCY: "the dependency: its locks, queries and pool",
    LatencyPart.QUOTA: "a larger CPU quota, or fewer threads that use it up at once",
    LatencyPart.PAUSE: "the collector's settings, a larger heap, fewer allocations",
    LatencyPart.DISK: "writes that no request waits for",
    LatencyPart.RECLAIM: "more memory",
    LatencyPart.RUNTIME: "fewer allocations, or a CPU for the runtime's own threads",
    LatencyPart.FOREIGN: "a quieter machine",
    LatencyPart.CPU: "less work per request: `touchstone why` without `--latency` divides it",
    LatencyPart.ACKNOWLEDGEMENT: "TCP_NODELAY, or the response in one write",
    LatencyPart.SOCKET: "threads that read sooner: more of them, or none that block",
    LatencyPart.ASLEEP: "locks, pool sizes and timers in the program",
}
"""By part, where to look."""

WHEN_UNEXPLAINED = (
    "What may help: more rounds, a load whose slow requests last longer than a few milliseconds, a cgroup for the "
    "contender, a dependency that is reached over TCP, and a machine without other work."
)
