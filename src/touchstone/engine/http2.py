"""Whether a server that answers no HTTP/1.1 speaks HTTP/2, so that it can be said."""

from __future__ import annotations

import socket
import ssl

from touchstone.engine.ask import AskedService, pasted_url
from touchstone.failure import TouchstoneError

_PATIENCE_S = 2.0


def speaks_http2(url: str) -> bool:
    """Whether the server at `url` begins an HTTP/2 connection; false if it cannot be asked."""
    try:
        parts = pasted_url(url)
        if not parts.tls:
            return AskedService(parts.origin).speaks_http2()
        # It is asked for its protocol alone, and nothing is sent to it or taken from it.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        with (
            socket.create_connection((parts.host, parts.port), timeout=_PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=parts.host) as wrapped,
        ):
            return wrapped.selected_alpn_protocol() == "h2"
    except (OSError, TouchstoneError):
        return False
