"""Serves the application with granian."""

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LOGGING_CONFIG

from users.config import Config

LOGGING_CONFIG["handlers"]["console"]["stream"] = "ext://sys.stderr"

DRAIN_S = 5


def main() -> None:
    config = Config.from_env()
    Granian(
        "users.app:create",
        factory=True,
        address=config.host,
        port=config.port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        websockets=False,
        # A client that has sent half a request would keep a worker for good.
        workers_kill_timeout=DRAIN_S,
        workers=config.workers,
    ).serve()


if __name__ == "__main__":
    main()
