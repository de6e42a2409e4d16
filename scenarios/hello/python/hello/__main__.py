"""Serves the application with granian."""

import os

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LOGGING_CONFIG

LOGGING_CONFIG["handlers"]["console"]["stream"] = "ext://sys.stderr"

LONGEST_HEAD_TIMEOUT_MS = 60_000
"""What granian grants at most."""
BACKLOG = 4096
CONNECTIONS = 20_000
"""A worker accepts no more at a time. Granian's default is the backlog, which is fewer than the scenario holds."""

DRAIN_S = 5


def main() -> None:
    # One clock for a slow head and for an idle connection: the longer of the two.
    head_timeout_ms = max(whole("REQUEST_TIMEOUT_MS", 10_000), whole("IDLE_TIMEOUT_MS", 60_000))
    Granian(
        "hello.app:app",
        address=os.environ.get("HOST") or "127.0.0.1",
        port=whole("PORT", 8080),
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=min(head_timeout_ms, LONGEST_HEAD_TIMEOUT_MS)),
        websockets=False,
        # A client that has sent half a request would keep a worker for good.
        workers_kill_timeout=DRAIN_S,
        workers=whole("WORKERS", 0) or len(os.sched_getaffinity(0)),
        backlog=BACKLOG,
        backpressure=CONNECTIONS,
    ).serve()


def whole(name: str, otherwise: int) -> int:
    text = os.environ.get(name) or str(otherwise)
    if not text.isdecimal():
        raise SystemExit(f"{name} is {text!r}: give a whole number")
    return int(text)


if __name__ == "__main__":
    main()
