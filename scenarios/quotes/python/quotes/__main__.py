"""Serves the application with granian."""

import os

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LOGGING_CONFIG

LOGGING_CONFIG["handlers"]["console"]["stream"] = "ext://sys.stderr"

BACKLOG = 4096
DRAIN_S = 5


def main() -> None:
    Granian(
        "quotes.app:app",
        address=os.environ.get("HOST") or "127.0.0.1",
        port=whole("PORT", 8080),
        interface=Interfaces.ASGI,
        http=HTTPModes.auto,
        websockets=False,
        workers_kill_timeout=DRAIN_S + 1,
        workers=whole("WORKERS", 0) or len(os.sched_getaffinity(0)),
        backlog=BACKLOG,
    ).serve()


def whole(name: str, otherwise: int) -> int:
    text = os.environ.get(name) or str(otherwise)
    if not text.isdecimal():
        raise SystemExit(f"{name} is {text!r}: give a whole number")
    return int(text)


if __name__ == "__main__":
    main()
