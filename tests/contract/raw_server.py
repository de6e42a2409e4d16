"""A server whose every connection behaves as a test says."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from touchstone.contract.values import ValueSource
from touchstone.engine.ask import AskedService, Response
from touchstone.manifest.exchange import Request

Behaviour = Callable[[socket.socket], None]


@contextmanager
def serving(behaviour: Behaviour, host: str = "127.0.0.1", heard: list[bytes] | None = None) -> Iterator[int]:
    """Its port; it ends with the block. `heard` takes what came first on each connection."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    first = connection.recv(65536)
                    if heard is not None:
                        heard.append(first)
                    behaviour(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.close()


def ask(behaviour: Behaviour, wanted: Request | None = None, timeout_s: float = 10.0) -> Response:
    """What a request gets from a server that behaves so. A busy machine takes less than the timeout."""
    with serving(behaviour) as port:
        service = AskedService.at("127.0.0.1", port, timeout_s)
        return service.exchange(wanted or Request(target="/"), ValueSource(1).next(), whole=True)


def replay(raw: bytes) -> Behaviour:
    """Behaves by sending these bytes."""
    return lambda connection: connection.sendall(raw)


def response(body: bytes = b"", status: int = 200, **fields: str) -> bytes:
    """A response as bytes; an underscore in a name stands for a dash."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body
