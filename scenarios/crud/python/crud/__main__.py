"""Serves the application with granian."""

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LOGGING_CONFIG

from crud.config import Config

LOGGING_CONFIG["handlers"]["console"]["stream"] = "ext://sys.stderr"

LONGEST_HEAD_TIMEOUT_MS = 60_000
"""What granian grants at most."""

DRAIN_S = 5


def main() -> None:
    config = Config.from_env()
    # One clock for a slow head and for an idle connection: the longer of the two.
    head_timeout_ms = int(max(config.read_timeout_s, config.idle_timeout_s) * 1000)
    Granian(
        "crud.app:create",
        factory=True,
        address=config.host,
        port=config.port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=min(head_timeout_ms, LONGEST_HEAD_TIMEOUT_MS)),
        websockets=False,
        # A client that has sent half a request would keep a worker for good.
        workers_kill_timeout=DRAIN_S,
        workers=config.workers,
    ).serve()


if __name__ == "__main__":
    main()
