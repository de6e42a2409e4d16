"""Whether a server that answers no HTTP/1.1 speaks HTTP/2, so that it can be said."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""The client's connection preface with an empty SETTINGS frame: RFC 9113, section 3.4."""
_SETTINGS = 4
_PATIENCE_S = 2.0


def speaks_http2(url: str) -> bool:
    """Whether the server at `url` begins an HTTP/2 connection; false if it cannot be asked."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE_S) as plain:
            if parts.scheme != "https":
                return _begins(plain)
            context = ssl.create_default_context()
            # It is asked for its protocol alone, and nothing is sent to it or taken from it.
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols(["h2"])
            with context.wrap_socket(plain, server_hostname=parts.hostname) as wrapped:
                return wrapped.selected_alpn_protocol() == "h2"
    except (OSError, ValueError):
        return False


def _begins(connection: socket.socket) -> bool:
    connection.sendall(_PREFACE)
    head = b""
    while len(head) < 9 and (block := connection.recv(64)):
        head += block
    # A frame's head is length (3), type (1), flags (1), stream (4); the first frame is SETTINGS on stream 0.
    return len(head) >= 9 and head[3] == _SETTINGS and head[5:9] == b"\x00\x00\x00\x00"
