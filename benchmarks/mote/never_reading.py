"""A client that pipelines requests and never reads an answer."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from benchmarks.mote.goal import Goal
from benchmarks.mote.progress import progress
from benchmarks.mote.server import REQUEST, Server

BURST = REQUEST * 2_000
WRITE_BUFFER_LIMIT = 65_536
"""Options::limits.write_buffer, mote's default."""


def measure(program: Path, backend: str) -> list[Goal]:
    """Growth of the resident set while the server holds the client off; the note tells the anonymous part."""
    progress(f"{backend}: a client that never reads")
    with Server(program, backend=backend) as server:
        # What the first request of any client takes is not this one's.
        with server.connect() as ordinary:
            ordinary.sendall(REQUEST)
            ordinary.recv(4096)
        time.sleep(0.5)
        before, anonymous_before = server.memory("Rss"), server.memory("Anonymous")
        with server.connect() as client:
            client.settimeout(1.0)
            sent = 0
            with contextlib.suppress(TimeoutError):
                while sent < 500_000_000:
                    sent += client.send(BURST)
            grown = server.memory("Rss") - before
            anonymous = server.memory("Anonymous") - anonymous_before
    return [
        Goal(
            "growth by a pipelining client that never reads",
            grown / 1e6,
            WRITE_BUFFER_LIMIT / 1e6,
            "MB",
            note=f"the bound is the write buffer's limit; {anonymous / 1e6:.3f} MB of it anonymous; "
            f"{sent / 1e6:.1f} MB of requests taken before the client was held off",
        )
    ]
