"""How a server limits kept connections, judged by its closes, and where the limit is set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from touchstone.judge.language.quantity import number, seconds
from touchstone.record.connections import ClosedByServer, Closes
from touchstone.record.sample import Sample

Kind = Literal["responses", "rest", "unused", "resting", "pipelining"]

SPREAD = 0.1
"""Numbers of responses that differ by no more are one limit: a server may vary it a little for each connection."""
AT_ONCE_S = 0.1
"""A connection that is closed so soon was not closed for its rest: no server's timeout is shorter."""
MANY = 0.25
"""From this share of repeated requests on, pipelining is not served, whatever else closes a connection now and then."""


@dataclass(frozen=True)
class _Setting:
    """A server's bound: seconds or a number by default, None where it has none or the number is not its own."""

    kind: Kind
    server: str
    name: str
    default: float | None = None


_SETTINGS = (
    _Setting("responses", "nginx", "keepalive_requests", 1000),
    _Setting("responses", "lighttpd", "server.max-keep-alive-requests", 1001),
    _Setting("responses", "hypercorn", "keep_alive_max_requests", 1000),
    _Setting("responses", "Apache httpd", "MaxKeepAliveRequests", 100),
    _Setting("rest", "nginx", "keepalive_timeout", 75),
    _Setting("rest", "HAProxy", "timeout http-keep-alive"),
    _Setting("rest", "Node", "server.keepAliveTimeout", 6),
    _Setting("rest", "gunicorn", "--keep-alive", 2),
    _Setting("rest", "Jetty", "idleTimeout", 30),
    _Setting("rest", "uvicorn", "--timeout-keep-alive", 5),
    _Setting("unused", "nginx", "client_header_timeout", 60),
    _Setting("unused", "HAProxy", "timeout http-request"),
    _Setting("unused", "Node", "server.headersTimeout", 60),
    _Setting("resting", "the JDK's HttpServer", "-Dsun.net.httpserver.maxIdleConnections", 200),
    _Setting("pipelining", "Bun", "an asynchronous handler"),
)
"""As seen of these servers in use: Node 20 to 26 closes a second after its setting of 5 s."""


@dataclass(frozen=True)
class CloseLimit:
    """A bound that a server shows: in words, which follow `it`, and where servers set it."""

    kind: Kind
    words: str
    value: float

    @property
    def advice(self) -> str:
        """The server settings whose default matches the limit, or all that have such a limit."""
        own = [one for one in _SETTINGS if one.kind == self.kind]
        near = [one for one in own if one.default and one.default <= self.value <= one.default * (1 + SPREAD)]
        named = ", ".join(f"`{one.name}` ({one.server})" for one in near or own)
        return (
            f"{named} {'has this default' if len(near) == 1 else 'have this default' if near else 'set such a bound'}"
        )


def bounds(sample: Sample) -> list[CloseLimit]:
    """The bounds that the server of a load showed. None where nothing was closed, or the record does not say."""
    result = sample.result
    if result is None or result.connections.closed is None:
        return []
    found = bounds_of(result.connections.closed, in_turns=sample.slices is not None)
    held = [point.connections for point in result.series if point.phase == "load"]
    at_once = [one for one in _silent(result.connections.closed) if one.rested_least_s < AT_ONCE_S]
    if at_once and held and max(held) < result.connections.asked and not found:
        found.append(CloseLimit("resting", f"keeps about {number(max(held))} idle connections", max(held)))
    if sample.spec.pipeline > 1 and result.counts.repeated >= MANY * max(1, result.counts.sent):
        found.append(
            CloseLimit("pipelining", "closes a connection on which requests are pipelined", sample.spec.pipeline)
        )
    return found


def bounds_of(closed: ClosedByServer, *, in_turns: bool = False) -> list[CloseLimit]:
    """The bounds that closes of kept connections show by themselves; `in_turns`: a close is seen later than it was."""
    return [*_responses(closed), *_rests(closed, in_turns=in_turns)]


def in_words(found: list[CloseLimit]) -> str:
    """A sentence that follows one on connections, without its full stop: `. The server closes ...`. Or nothing."""
    return f". The server {' and '.join(bound.words for bound in found)}" if found else ""


def advice(found: list[CloseLimit]) -> str | None:
    """What to do about the bounds that were found; None without one."""
    return (
        "; ".join(bound.advice for bound in found) + ". Raise it where connections are to be kept." if found else None
    )


def _responses(closed: ClosedByServer) -> Iterator[CloseLimit]:
    """A limit of responses, announced or not: several connections end with as many."""
    for closes in (closed.announced, closed.under_request):
        if closes is None or closes.count < 2 or not closes.responses_least:
            continue
        least, most = closes.responses_least, closes.responses_most
        if most > least * (1 + SPREAD):
            continue
        many = number(most) if least == most else f"{number(least)} to {number(most)}"
        yield CloseLimit(
            "responses",
            "closes a connection after each response" if most == 1 else f"closes a connection after {many} responses",
            most,
        )
        return


def _rests(closed: ClosedByServer, *, in_turns: bool) -> Iterator[CloseLimit]:
    """Limits of rest: after a response, and before a first request."""
    if closed.idle and closed.idle.rested_least_s >= AT_ONCE_S:
        yield CloseLimit(
            "rest", f"closes a connection that is idle for {_rest(closed.idle, in_turns)}", closed.idle.rested_least_s
        )
    waits = [one for one in (closed.unused, closed.notified) if one and not one.responses_most]
    for closes in waits:
        if closes.rested_least_s >= AT_ONCE_S:
            notice = f" (status {', '.join(sorted(closes.status))})" if closes.status else ""
            words = f"closes a connection without a request after {_rest(closes, in_turns)}{notice}"
            yield CloseLimit("unused", words, closes.rested_least_s)
            return


def _rest(closes: Closes, in_turns: bool) -> str:
    # Between its turns nobody looks at a contender's connections: a close is seen later than it was.
    least, most = seconds(closes.rested_least_s), seconds(closes.rested_most_s)
    if in_turns:
        return f"{least} or less"
    return least if closes.rested_most_s < (1 + SPREAD) * closes.rested_least_s else f"{least} to {most}"


def _silent(closed: ClosedByServer) -> list[Closes]:
    return [one for one in (closed.unused, closed.idle, closed.under_request) if one is not None]
