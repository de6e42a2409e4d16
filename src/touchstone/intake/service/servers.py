"""Servers of Python: the options that say where they listen, and those that exclude these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from touchstone.intake.service.base import Words
from touchstone.intake.service.command import DeployedCommand

_BY_TCP = "dropped, because touchstone connects by TCP"
_PLAIN = "dropped, because touchstone connects without TLS"
_HOST_AND_PORT = ("--host", "{host}", "--port", "{port}")
_BIND = ("--bind", "{host}:{port}")


@dataclass(frozen=True)
class _Server:
    """How a server takes its address."""

    address: Words
    """What says it."""
    options: Sequence[str]
    """All that say it: with what `address` has, another would be there twice, or be refused."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Options that exclude it, or that change what is spoken there, and why each is dropped."""


def _tls(*options: str) -> dict[str, str]:
    return dict.fromkeys(options, _PLAIN)


SERVERS = {
    "gunicorn": _Server(
        _BIND, ("--bind", "-b"), _tls("--certfile", "--keyfile", "--ca-certs", "--cert-reqs", "--ssl-version")
    ),
    "hypercorn": _Server(
        _BIND,
        ("--bind", "-b"),
        {"--insecure-bind": _BY_TCP, "--quic-bind": _BY_TCP, **_tls("--certfile", "--keyfile", "--ca-certs")},
    ),
    "uvicorn": _Server(
        _HOST_AND_PORT,
        ("--host", "--port"),
        {
            **dict.fromkeys(("--uds", "--fd"), _BY_TCP),
            **_tls("--ssl-keyfile", "--ssl-certfile", "--ssl-keyfile-password", "--ssl-ca-certs", "--ssl-version"),
            **_tls("--ssl-cert-reqs", "--ssl-ciphers"),
        },
    ),
    "granian": _Server(
        _HOST_AND_PORT,
        ("--host", "--port"),
        {"--uds": _BY_TCP, "--uds-permissions": _BY_TCP, **_tls("--ssl-certificate", "--ssl-keyfile")},
    ),
    "fastapi": _Server(_HOST_AND_PORT, ("--host", "--port")),
    "flask": _Server(_HOST_AND_PORT, ("--host", "-h", "--port", "-p"), _tls("--cert", "--key")),
    "daphne": _Server(
        ("-b", "{host}", "-p", "{port}"),
        ("-b", "--bind", "-p", "--port"),
        dict.fromkeys(("-u", "--unix-socket", "--fd", "-e", "--endpoint"), _BY_TCP),
    ),
    "waitress": _Server(
        ("--listen={host}:{port}",),
        ("--listen", "--host", "--port"),
        dict.fromkeys(("--unix-socket", "--unix-socket-perms"), _BY_TCP),
    ),
}
"""As modules."""
_MODULES = {"waitress-serve": "waitress"}
_SOCKETS = ("unix:", "unix//", "fd://", "/")
"""How values of an address begin that are sockets, or open already."""


_SOCKET = re.compile(r"--?(?:(?:listen-)?fd|uds|(?:unix-)?socket(?:-path|-file)?|unix)")
_LISTENING = re.compile(r"--?(?:\w+[-.])*(?:listen|bind|addr|address|host|socket)")
_SOCKET_NAMED = re.compile(r"(?:unix:|fd:).*|/.*\.sock(?:et)?")


def without_sockets(found: DeployedCommand) -> DeployedCommand:
    """A compiled program's command without options that name a file socket or an open one."""
    kept: list[str] = []
    notes: list[str] = []
    rest = list(found.words)
    while rest:
        words = [rest.pop(0)]
        option, equals, given = words[0].partition("=")
        if option.startswith("-") and not equals and rest and not rest[0].startswith("-"):
            given = rest[0]
        listens = _LISTENING.fullmatch(option) and _SOCKET_NAMED.fullmatch(given)
        if not _SOCKET.fullmatch(option) and not listens:
            kept += words
            continue
        words += [rest.pop(0)] if given and not equals else []
        notes.append(f"{found.source} has `{' '.join(words)}`: {_BY_TCP}")
    return replace(found, words=kept, notes=[*found.notes, *notes])


def module_of(word: str) -> str:
    """The module that a program of a server's is called by."""
    name = PurePath(word).name
    return _MODULES.get(name, name)


def server_in(words: Words) -> str:
    """The server that a command runs; empty if it runs none."""
    return next((name for name in map(module_of, words) if name in SERVERS), "")


def at_address(found: DeployedCommand) -> DeployedCommand:
    """The command of a server, listening where touchstone says. What excludes that is dropped, and said."""
    at = next((number for number, word in enumerate(found.words) if module_of(word) in SERVERS), None)
    if at is None:
        return found
    server = SERVERS[module_of(found.words[at])]
    kept: list[str] = []
    notes: list[str] = []
    place = None
    for option, given, words in _options(found.words[at + 1 :], server):
        why = server.dropped.get(option) or (_BY_TCP if given.startswith(_SOCKETS) and option in server.options else "")
        if why:
            notes.append(f"{found.source} has `{' '.join(words)}`: {why}")
        elif option in server.options:
            place = len(kept) if place is None else place
        else:
            kept += words
    if module_of(found.words[at]) == "flask" and "run" not in kept:
        return found
    place = len(kept) if place is None else place
    words = [*found.words[: at + 1], *kept[:place], *server.address, *kept[place:]]
    return replace(found, words=words, notes=[*found.notes, *notes])


def _options(words: Words, server: _Server) -> Iterator[tuple[str, str, Words]]:
    """Each option that matters with its value and its words, and every other word by itself."""
    known = (*server.options, *server.dropped)
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, given = word.partition("=")
        short = word[:2]
        if option in known and equals:
            yield option, given, [word]
        elif word in known and rest:
            given = rest.pop(0)
            yield word, given, [word, given]
        elif short in known and len(word) > 2 and not word.startswith("--"):
            yield short, word[2:], [word]
        else:
            yield "", "", [word]
