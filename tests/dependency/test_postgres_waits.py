"""What each session of a real PostgreSQL waits for is sampled, by its client's port."""

from __future__ import annotations

import os
import socket
import time
from threading import Thread

import psycopg

from tests.dependency.test_overhearing import client, postgres  # noqa: F401
from touchstone.dependency.postgres import Postgres

LOCK = "SELECT pg_advisory_lock(57)"


def port_of(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    with socket.socket(fileno=os.dup(connection.pgconn.socket)) as own:
        return int(own.getsockname()[1])


def test_a_wait_for_a_lock_is_seen_as_long_as_it_lasts(postgres: Postgres) -> None:  # noqa: F811
    with client(postgres) as holder, client(postgres) as waiting:
        holder.execute(LOCK)
        thread = Thread(target=waiting.execute, args=(LOCK,))
        begin = time.monotonic()
        with postgres.asked_for_waits() as found:
            thread.start()
            while not any(one.port == port_of(waiting) for one in found) and time.monotonic() < begin + 30:
                time.sleep(0.005)
            holder.execute("SELECT pg_advisory_unlock(57)")
            thread.join()
        end = time.monotonic()
        states = {one.state for one in found if one.port == port_of(waiting)}
    assert "Lock advisory" in states
    assert states <= {"Lock advisory", "running"}
    assert all(begin <= one.at_s <= end for one in found)


def test_a_server_that_is_down_gives_no_samples(postgres: Postgres) -> None:  # noqa: F811
    postgres.act("stop", {})
    try:
        with postgres.asked_for_waits() as found:
            pass
    finally:
        postgres.act("start", {})
    assert found == []
