"""A server that closes connections at rest with a notice, over HTTP and over https: neither is a lost connection."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from touchstone.engine.client import run_job
from touchstone.engine.locate import engine_path
from touchstone.record.hold_result import HoldResult

_RIGHT = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"
_NOTICE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_HELD = 3
_REST_S = 0.3


def converse(peer: socket.socket, tls: ssl.SSLContext | None) -> None:
    """Answers one request, and gives notice when no other has come for a while."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as open_ones:
        stream = open_ones.enter_context(tls.wrap_socket(peer, server_side=True) if tls else peer)
        stream.recv(4096)
        stream.sendall(_RIGHT)
        stream.settimeout(_REST_S)
        with contextlib.suppress(TimeoutError):
            stream.recv(4096)
        stream.sendall(_NOTICE)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_notice_is_a_close_at_rest(tmp_path: Path, scheme: str) -> None:
    tls = None
    if scheme == "https":
        cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
        subprocess.run([engine_path(), "certificate", f"--cert={cert}", f"--key={key}", "localhost"], check=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cert, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = listener.accept()
                    threading.Thread(target=converse, args=(peer, tls), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        result = run_job(
            "hold",
            {
                "url": f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/",
                "levels": [_HELD],
                "watch": [os.getpid()],
                "settle_s": 1.0,
                "after_close_s": 0.1,
            },
            HoldResult,
        )
    level = result.levels[0]
    assert level.lost == {}
    assert level.closed is not None
    assert level.closed.notified is not None
    assert level.closed.notified.count == _HELD
    assert level.closed.notified.status == {"408": _HELD}
