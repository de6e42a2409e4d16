"""Whether a server that closes on plain HTTP speaks TLS, so that it can be said."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

_PATIENCE_S = 2.0


def speaks_tls(url: str) -> bool:
    """Return whether the port of an http:// URL takes a TLS handshake. False if it cannot be asked."""
    parts = urlsplit(url)
    if parts.hostname is None:
        return False
    # Nothing is sent or taken but the handshake, and nothing verified: the machine's authorities need not be read.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=parts.hostname),
        ):
            return True
    except ssl.SSLError as error:
        # Only a server that speaks TLS refuses by an alert.
        return "ALERT" in (error.reason or "")
    except (OSError, ValueError):
        return False
