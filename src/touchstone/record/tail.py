"""What the engine keeps of slow requests: docs/engine-protocol.md. Times in µs since the first intended send."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import EngineRecord

Place = Literal["absent", "unaccepted", "unread", "read", "unacknowledged"]
SENT: Place = "unacknowledged"
"""A part of the response, or all of it, left the server and was not acknowledged."""
SERVER, GENERATOR, FIRST_DEPENDENCY = 0, 1, 2
"""Numbers of processes in a timeline."""


class Stamps(EngineRecord):
    """One request's times."""

    due: int
    sent: int
    first: int
    last: int
    late: int = 0
    """How late the load generator sent it: no part of the latency."""
    opening: int = 0
    """How long its connection took to open, if that was opened for it."""
    port: int = 0
    request: int = 0

    @property
    def latency(self) -> int:
        """From when it was due to the last byte, without the generator's delay."""
        return self.last - self.due - self.late


class Timeline(EngineRecord):
    """What the server did at each moment. Intervals are begin, end and what the field's comment says."""

    origin_s: float = 0.0
    """The origin of all times: seconds of `CLOCK_MONOTONIC`."""
    interval_s: float = 0.001
    looks: list[list[int]] = []
    """The time, then CPU so far of the server and of each dependency."""
    cpu_waits: list[tuple[int, int, int]] = []
    """Threads that could run and had no CPU: process."""
    runs: list[tuple[int, int, int]] = []
    """CPU of the server's threads: time of the look, kind, µs."""
    kinds: list[str] = []
    sleeps: list[tuple[int, int, int, int]] = []
    """Sleeps other than for work, locks and time: process, place."""
    places: list[str] = []
    throttled: list[tuple[int, int]] = []
    sockets: list[tuple[int, int, int, Place]] = []
    """Where a request was: local port of the client, place."""
    exchanges: list[tuple[int, int, int, int]] = []
    """Requests of the server to dependencies: address, local port of the server."""
    major_faults: list[tuple[int, int]] = []
    unseen: list[str] = []
    cost_s: float = 0.0


class TailResult(EngineRecord):
    """The slowest requests of a window and some at random, with what the server did meanwhile."""

    requests: int = 0
    """Right responses of the window."""
    slowest: list[Stamps] = []
    sampled: list[Stamps] = []
    timeline: Timeline = Timeline()
