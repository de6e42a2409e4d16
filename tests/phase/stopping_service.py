"""A service that ends in a way that its first argument names, with a log of the requests that it reads and answers.

Its log has a line for each request: `read` when the whole request was read, `answered` when the response was written.
With `TLS_CERT` and `TLS_KEY` in its environment it speaks TLS.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import selectors
import signal
import socket
import ssl
import sys
import time

MODE = sys.argv[1]
PORT = int(os.environ["PORT"])
# A busy machine may take half a second between a request and SIGTERM.
SLOW_S = float(os.environ.get("STOP_SLOW_S", "1.0"))
COLD_S = 1.0
WAITS_S = 2.5
COLD_AT = int(os.environ.get("STOP_COLD_AT", "1"))
ANNOUNCES_S = 0.3
DRAIN = ("graceful", "stumbles", "cold", "sharing-graceful", "alone")
SHAKES_HANDS_S = 1.0


class Service:
    """One thread, one selector; responses that take time wait in a list."""

    def __init__(self) -> None:
        self.log = os.open(os.environ["STOP_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.selector = selectors.DefaultSelector()
        shares = MODE.startswith("sharing-")
        self.listener = socket.create_server(("127.0.0.1", PORT), backlog=256, reuse_port=shares)
        self.listener.setblocking(False)
        self.context = None
        if certificate := os.environ.get("TLS_CERT"):
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate, os.environ["TLS_KEY"])
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.received: dict[socket.socket, bytes] = {}
        self.waiting: list[tuple[float, socket.socket]] = []
        self.streams: dict[socket.socket, bool] = {}
        """Open streams, and whether each is a WebSocket."""
        self.ends_since: float | None = None
        self.read = 0
        if MODE == "alone":
            # An exclusive lock of the program's own file: a second process does not start beside the first.
            self.lock = os.open(__file__, os.O_RDONLY)
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def note(self, what: str) -> None:
        os.write(self.log, f"{what}\n".encode())

    def serve(self) -> None:
        while True:
            for key, _ in self.selector.select(0.002):
                if key.fileobj is self.listener:
                    self.accept()
                else:
                    self.receive(key.fileobj)  # type: ignore[arg-type]
            for one in [one for one in self.waiting if one[0] <= time.monotonic()]:
                self.waiting.remove(one)
                self.answer(one[1])
            if self.ends_since is not None:
                self.end()

    def accept(self) -> bool:
        if MODE == "deaf" and self.ends_since is not None:
            return False
        try:
            accepted, _ = self.listener.accept()
            if self.context is not None:
                accepted.settimeout(SHAKES_HANDS_S)
                accepted = self.context.wrap_socket(accepted, server_side=True)
        except OSError:
            return False
        accepted.setblocking(False)
        self.received[accepted] = b""
        self.selector.register(accepted, selectors.EVENT_READ)
        return True

    def more(self, one: socket.socket) -> bytes:
        """The bytes that came; none yet, or none any more, and then the connection is dropped."""
        try:
            data = one.recv(65536)
        except ssl.SSLWantReadError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.drop(one)
        return data

    def receive(self, one: socket.socket) -> None:
        data = self.more(one)
        if not data or one in self.streams:
            return None
        self.received[one] += data
        if b"\r\n\r\n" in self.received[one]:
            path = self.received[one].split(b" ")[1]
            if path in (b"/stream", b"/socket"):
                return self.stream(one, path == b"/socket")
            self.received[one] = b""
            self.note("read")
            self.read += 1
            # The first request is the one that finds it ready.
            if MODE == "cold" and self.read == COLD_AT:
                time.sleep(COLD_S)
            if MODE == "stumbles" and self.ends_since is None and self.read % 20 == 0:
                return self.drop(one)
            if MODE == "unanswered" and self.ends_since is not None:
                return self.drop(one)
            self.waiting.append((time.monotonic() + (SLOW_S if path == b"/slow" else 0.0), one))
        return None

    def answer(self, one: socket.socket) -> None:
        ending = self.ends_since is not None
        status = "503 Service Unavailable" if ending and MODE == "unavailable" else "200 OK"
        close = "Connection: close\r\n" if ending and MODE != "unavailable" else ""
        response = f"HTTP/1.1 {status}\r\nContent-Length: 5\r\n{close}\r\nhello".encode()
        if MODE == "halfway" and ending:
            one.sendall(response[:-2])
            os._exit(0)
        one.sendall(response)
        self.note("answered" if status.startswith("200") else "refused")
        if close:
            self.drop(one)

    def stream(self, one: socket.socket, is_socket: bool) -> None:
        if is_socket:
            key = self.received[one].split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            head = b"101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            one.sendall(b"HTTP/1.1 " + head + accept + b"\r\n\r\n\x89\x00")
        else:
            head = b"200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            one.sendall(b"HTTP/1.1 " + head + b"9\r\ndata: 1\n\n\r\n")
        self.streams[one] = is_socket

    def end_streams(self) -> None:
        """End each as its protocol has it: by the last chunk, or by a close frame with 1001 (going away)."""
        for one, is_socket in list(self.streams.items()):
            one.sendall(b"\x88\x02\x03\xe9" if is_socket else b"0\r\n\r\n")
            self.drop(one)

    def drop(self, one: socket.socket) -> None:
        self.streams.pop(one, None)
        self.selector.unregister(one)
        self.received.pop(one, None)
        one.close()

    def begin_to_end(self, *_: object) -> None:
        self.ends_since = time.monotonic()
        if MODE in ("exits", "sharing-exits"):
            os._exit(0)

    def end(self) -> None:
        assert self.ends_since is not None
        since = time.monotonic() - self.ends_since
        if MODE in DRAIN:
            self.end_streams()
        if MODE in DRAIN and self.listener.fileno() >= 0:
            # Those that have connected already are served: closing the listener would reset them.
            while self.accept():
                pass
            self.selector.unregister(self.listener)
            self.listener.close()
        if MODE in (*DRAIN, "unavailable", "halfway", "deaf") and since > ANNOUNCES_S and not self.waiting:
            os._exit(0)
        if MODE == "unanswered" and since > 0.1:
            os._exit(0)
        if MODE == "waits" and (not self.received or since > WAITS_S):
            os._exit(0)


if __name__ == "__main__":
    service = Service()
    if MODE == "child" and os.fork():
        # The parent holds no connection: the child serves, and nobody tells it to end.
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        service.listener.close()
        while True:
            signal.pause()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if MODE in ("ignores", "child") else service.begin_to_end)
    service.serve()
