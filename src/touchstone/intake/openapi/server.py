"""Where a document has its operations: the path before theirs, and the host that answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import normpath
from urllib.parse import urlsplit

from touchstone.intake.openapi.part import DocumentNode, UnsoundError

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NOT_SENT = re.compile(r"[^!-~]|[\"<>\\^`{|}]")


@dataclass(frozen=True)
class Server:
    """The server of an operation."""

    host: str = ""
    """Empty if the document does not say."""
    path: str = ""
    """Before the operation's own, without a slash at its end."""
    doubt: str = ""


def server_of(holders: Sequence[DocumentNode]) -> Server:
    """The first server of the first part that has any: an operation, its path, the document."""
    for holder in holders:
        try:
            servers = [one.followed() for one in holder.array("servers")]
            if servers:
                return _read(servers[0])
        except UnsoundError as error:
            return Server(doubt=f"the server cannot be read: {error}")
    return Server()


def _read(server: DocumentNode) -> Server:
    if not isinstance(server.held, dict):
        raise UnsoundError("it is not an object")
    doubts: list[str] = []
    variables = server.object("variables")

    def filled(match: re.Match[str]) -> str:
        variable = variables.object(match[1]) if match[1] in variables.keys else None
        allowed = variable.array("enum") if variable else []
        value = variable.text("default") if variable else ""
        if variable and "default" not in variable.held and allowed:
            value = str(allowed[0].held)
        elif variable is None or "default" not in variable.held:
            doubts.append(f"the server's {match[0]} has no value in the document")
            value = match[1]
        return value

    url = _VARIABLE.sub(filled, server.text("url")).strip()
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UnsoundError(f"{url!r} is not a URL") from error
    if url and not parts.scheme and not parts.netloc and not url.startswith("/"):
        doubts.append(f"the server {url!r} is relative to the document's URL, which a file does not have")
        parts = urlsplit(normpath(f"/{url}"))
    path = parts.path.rstrip("/")
    if _NOT_SENT.search(path):
        raise UnsoundError(f"{path!r} is not a path that can be sent")
    return Server(parts.netloc, path, "; ".join(doubts))
