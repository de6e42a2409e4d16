"""What to do about a load that mostly failed, judged by the first wrong response."""

from __future__ import annotations

import re

from touchstone.record.engine import FirstError
from touchstone.vocabulary.status import REDIRECTS

_STATUS = re.compile(r"HTTP/(?:1\.[01]|2) (\d{3})")
_FIELD = r"(?im)^{name}:[ \t]*([^\r\n]*)"
_BY_STATUS = {
    401: "add credentials: -H 'Authorization: Bearer ...'",
    403: "add credentials, if those are missing: -H 'Authorization: Bearer ...'",
    404: "correct the path",
    405: "give the method that this path takes: -m POST",
    413: "send a smaller body",
    415: "say what the body is: -H 'Content-Type: application/json'",
    421: "name the host that it serves: -H 'Host: NAME', and with https --sni NAME or --resolve NAME:PORT:ADDRESS",
    429: "it limits the rate of requests: take the limit away for the load",
}


_WANTS_TLS = re.compile(
    "plain HTTP request was sent to HTTPS port|Client sent an HTTP request to an HTTPS server"
    "|speaking plain HTTP to an SSL-enabled|requires TLS"
)
"""What nginx, Go, Apache and Tomcat answer to HTTP on a port for TLS."""
_BY_TEXT = {
    _WANTS_TLS: "the port speaks TLS: write https:// in the URL",
    re.compile("^\x15\x03"): "it answered with a TLS alert, so the port speaks TLS: write https:// in the URL",
    re.compile("No required SSL certificate was sent"): "it demands a client's certificate: --cert and --key name one",
    re.compile(
        "The SSL certificate error"
    ): "it refuses the client's certificate: give one that it knows by --cert and --key",
}
"""What to do where an answer holds a text. A TLS alert begins with its type and a version (RFC 8446 5.1)."""


def advice(error: FirstError) -> str | None:
    """What to do, in words; None if this wrong answer tells nothing."""
    for text, todo in _BY_TEXT.items():
        if text.search(error.received):
            return todo
    found = _STATUS.match(error.received)
    if found is None:
        return None
    status = int(found[1])
    if error.class_ == "timeout":
        if "event-stream" in (_field("content-type", error.received) or ""):
            return "only whole responses are measured, and a stream of events has no end: load another resource"
        return "a response had begun and not ended in time: give --timeout, or load a resource that ends"
    return _of_status(status, error.received) if error.class_ == "wrong_status" else None


def _of_status(status: int, received: str) -> str | None:
    right = f"if {status} is the right answer, --expect-status {status}"
    if status in REDIRECTS and (place := _field("location", received)):
        return f"it sends elsewhere, and the load does not follow: load {place}; {right}"
    known = _BY_STATUS.get(status)
    return f"{known}; {right}" if known else None


def _field(name: str, received: str) -> str | None:
    found = re.search(_FIELD.format(name=name), received)
    return found[1].strip() if found else None
