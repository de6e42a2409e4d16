"""What PostgreSQL's backends wait for: `pg_stat_activity`, sampled."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

import psycopg

from touchstone.dependency.base import ClientState

_EVERY_S = 0.01
"""A sample takes a tenth of a millisecond of CPU in all, so this is a hundredth of one CPU."""
_ACTIVE = """SELECT client_port, coalesce(wait_event_type || ' ' || wait_event, 'running')
FROM pg_stat_activity WHERE state = 'active' AND client_port > 0 AND pid <> pg_backend_pid()"""


@contextmanager
def sampled(connection: psycopg.Connection[tuple[object, ...]], cpus: Sequence[int]) -> Iterator[list[ClientState]]:
    """The states of all backends with a client over TCP, until the context ends. Sampled on these CPUs."""
    found: list[ClientState] = []
    ended = Event()
    thread = Thread(target=_sample, args=(connection, cpus, found, ended), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def _sample(
    connection: psycopg.Connection[tuple[object, ...]], cpus: Sequence[int], found: list[ClientState], ended: Event
) -> None:
    if cpus:
        with suppress(OSError):
            os.sched_setaffinity(0, cpus)  # 0: this thread alone
    # A server that ends meanwhile ends the samples; the load itself reports the loss.
    with suppress(psycopg.Error):
        while not ended.wait(_EVERY_S):
            begin = time.monotonic()
            rows = connection.execute(_ACTIVE).fetchall()
            at_s = (begin + time.monotonic()) / 2
            found += [ClientState(at_s, int(str(port)), str(state)) for port, state in rows]
