"""Rules on connections: those that broke, were not held, or were opened again."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.closes import advice, bounds, bounds_of, in_words
from touchstone.judge.reading.traffic import answered_in_all, asked_connections, first_errors, measured_points, pauses
from touchstone.judge.rule import Fired, on_sample
from touchstone.record.engine import LoadResult
from touchstone.record.hold_result import HoldLevel
from touchstone.record.sample import Sample

_BROKEN_REQUESTS = (
    "reset",
    "closed_mid_response",
    "closed_before_response",
    "kept_connection_closed",
    "stream_reset",
    "going_away",
    "malformed",
)
"""Classes of requests whose connection broke."""
_BROKEN_WITHOUT_REQUEST = ("refused", "connect_failed", "unasked_bytes")
"""Classes of connections that broke without a request."""
_CONNECTIONS_BROKEN_MANY = 0.01
"""A share of repeated requests that costs as much as the least effect that matters: each has two attempts and a new
connection in its latency."""
_KEPT_LONGER = (
    "A request that is not idempotent may not be sent again (RFC 9110 section 9.2.2). Make the server keep connections "
    "for longer than they are idle here, or close them with a response that says so."
)


@on_sample(
    "connections-broken",
    Severity.INVALID,
    title="Connections were refused, reset or cut",
    threshold=(
        "a connection is refused or cannot be made, is reset or closed during a request, or delivers bytes that are "
        "not HTTP or that no request asked for. It is invalid above the load's error allowance, otherwise suspect. "
        "The rule also fires if requests were repeated because the server had closed a kept connection. It is then "
        "suspect if 1 % of the requests or more were repeated, or if the closes follow no limit of responses or idle "
        "time; otherwise it is a note"
    ),
    threshold_reason=(
        "on a loopback interface nothing is lost by chance: the server closed the connection, or a limit was "
        "reached. A server may close a kept connection (RFC 9112 section 9.5), and clients then repeat idempotent "
        "requests. A server that loses requests looks the same, but its closes do not follow a limit"
    ),
    next_step=(
        "Look at the server's limits for connections, listen backlog and descriptors. Read the part of its log that "
        "belongs to that moment."
    ),
    own_failure=True,
    tares_too=True,
)
def connections_broken(sample: Sample, case: Case) -> Iterator[Fired]:
    """If the connection of a request breaks, the request is not served.

    Load generators that reconnect silently hide such failures.
    """
    result = sample.result
    if result is None:
        return
    closed = result.connections.closed
    requests = {name: n for name in _BROKEN_REQUESTS if (n := getattr(result.counts.errors, name))}
    classes = requests | {
        name: n for name in _BROKEN_WITHOUT_REQUEST if (n := getattr(result.connections.errors, name))
    }
    found = bounds(sample)
    if classes:
        named = ", ".join(f"{number(n)} {name.replace('_', ' ')}" for name, n in classes.items())
        above = sum(classes.values()) > sample.spec.error_allowance * result.counts.sent
        yield Fired(
            f"connections broke during {number(result.counts.sent)} requests: {named}{in_words(found)}",
            severity=Severity.INVALID if above else Severity.SUSPECT,
            next_step=_KEPT_LONGER if set(classes) == {"kept_connection_closed"} else None,
            evidence={
                "errors": classes,
                "first_errors": first_errors(result, *_BROKEN_REQUESTS, *_BROKEN_WITHOUT_REQUEST),
            },
        )
    elif repeated := result.counts.repeated:
        part = repeated / max(1, result.counts.sent)
        yield Fired(
            f"{number(repeated)} of {number(result.counts.sent)} requests ({share(part)}) were sent again, because "
            f"the server had closed a kept connection before any byte of the response{in_words(found)}",
            severity=Severity.SUSPECT if part >= _CONNECTIONS_BROKEN_MANY or not found else Severity.NOTE,
            next_step=advice(found),
            figures=[*SPEED, *CPU],
            evidence={"repeated": repeated, "closed": closed.model_dump() if closed else None},
        )


_CONNECTIONS_NOT_HELD_FEW = 0.02
_CONNECTIONS_NOT_HELD_MANY = 0.10
_CONNECTIONS_NOT_HELD_EACH = 0.5


@on_sample(
    "connections-not-held",
    Severity.SUSPECT,
    title="Fewer connections were held than asked for",
    threshold=(
        "with keep-alive, fewer than 98 % of the connections were open: suspect; fewer than 90 %: invalid. The rule "
        "looks at the connections established, at those open at the end, and at those open in the median reading. It "
        "is a note if users pause and the server closes idle connections without an error. It does not fire if the "
        "server closes connections after its responses (at least one new connection for two requests, and no error)"
    ),
    threshold_reason=(
        "when connections are counted, one or two may just be closed and not yet replaced. If a tenth is missing, "
        "throughput and latency change by more than the margin. A user who pauses opens a new connection when "
        "needed. For a server that closes after each response, `connections-per-request` fires instead"
    ),
    next_step=(
        "Look at the server's limit of connections and backlog, at descriptor limits (`ulimit -n`), and at the "
        "first connect error."
    ),
    tares_too=True,
)
def connections_not_held(sample: Sample, case: Case) -> Iterator[Fired]:
    """The number of connections is part of the load.

    If only 100 of 200 connections are open, the load is a different one.
    """
    result = sample.result
    asked = asked_connections(sample)
    if result is None or not asked or not sample.spec.keepalive or _closes_after_answers(result):
        return
    in_window = [point.connections for point in measured_points(result)]
    typical = int(median(in_window)) if in_window else asked
    least = min(result.connections.established, result.connections.held, typical)
    missing = asked - least
    if missing <= max(1, _CONNECTIONS_NOT_HELD_FEW * asked):
        return
    found = bounds(sample)
    severity = Severity.INVALID if missing > _CONNECTIONS_NOT_HELD_MANY * asked else Severity.SUSPECT
    yield Fired(
        f"only {least} of {asked} connections stayed open{in_words(found)}",
        severity=Severity.NOTE if found and pauses(sample) and _is_without_error(result) else severity,
        next_step=advice(found),
        evidence={**result.connections.model_dump(), "typical": typical},
    )


def _closes_after_answers(result: LoadResult) -> bool:
    """Whether the connections that are missing are those that an answer closed."""
    return _is_without_error(result) and result.connections.reconnects >= _CONNECTIONS_NOT_HELD_EACH * max(
        1, answered_in_all(result)
    )


def _is_without_error(result: LoadResult) -> bool:
    errors = result.connections.errors
    return not (result.counts.not_right or errors.refused or errors.connect_failed)


_CONNECTIONS_PER_REQUEST_OFTEN = 0.01
_CONNECTIONS_PER_REQUEST_SELDOM = 0.9


@on_sample(
    "connections-per-request",
    Severity.SUSPECT,
    title="Connections per request are not as the scenario states",
    threshold=(
        "the rule counts over warm-up and window together. With keep-alive: more than 1 % of the requests needed a "
        "new connection. Connections that the server closed while other contenders had their slices do not count. "
        "Without keep-alive: fewer than 0.9 connections were opened per request"
    ),
    threshold_reason=(
        "some servers close a connection after some hundreds of requests, which is less than 1 %. At 1 %, opening "
        "connections adds a few percent to the cost of a short request. That is about the smallest difference that "
        "matters"
    ),
    next_step="Look at the server's keep-alive and idle settings, and for a `Connection: close` in its responses.",
)
def connections_per_request(sample: Sample, case: Case) -> Iterator[Fired]:
    """Opening a connection costs as much as several requests.

    If a server closes after each response, the figures show mostly the cost of opening connections. If the load asks
    for a new connection per request, a server that keeps connections avoids that cost.
    """
    result = sample.result
    if result is None or not result.counts.completed:
        return
    answered, opened = answered_in_all(result), result.connections
    if sample.spec.keepalive:
        reopened = opened.reconnects - _closed_at_rest(sample)
        rate = reopened / answered
        if rate > _CONNECTIONS_PER_REQUEST_OFTEN and reopened > asked_connections(sample):
            found = bounds(sample)
            yield Fired(
                f"{number(reopened)} connections were reopened during {number(answered)} requests "
                f"({share(rate)}), although the load keeps connections open{in_words(found)}",
                next_step=advice(found),
                figures=[*SPEED, *CPU],
                evidence=opened.model_dump(),
            )
    elif opened.opened / answered < _CONNECTIONS_PER_REQUEST_SELDOM:
        yield Fired(
            f"{number(opened.opened)} connections served {number(answered)} requests, although the load asks "
            f"for a new connection for each request",
            figures=[*SPEED, *CPU],
            evidence=opened.model_dump(),
        )


def _closed_at_rest(sample: Sample) -> int:
    """Connections that were closed before a turn began: a server may end what nobody has used for a while.

    At most as many in each turn as the load has; one that closes after each answer closes many more.
    """
    turns = sample.slices.slices if sample.slices else []
    return sum(min(turn.connection_errors.get("closed_idle", 0), asked_connections(sample)) for turn in turns)


_HELD_MANY = 0.01
"""A share of a level's connections at which the slope over the levels is off by as much as two runs differ."""


@on_sample(
    "held-requests-failed",
    Severity.INVALID,
    title="Held connections were lost, or their requests failed",
    threshold=(
        "a level is a number of connections at which memory is read. A connection of a level failed or was lost, or "
        "a request over an open connection got no right response: suspect. This happened to more than 1 % of a "
        "level's connections: invalid"
    ),
    threshold_reason=(
        "touchstone closes none of these connections. If the server closes idle connections, "
        "`held-connections-closed` fires instead. 1 % of the connections changes the figure by about as much as two "
        "runs differ"
    ),
    next_step=(
        "Read the evidence. Usually a limit of connections or descriptors was reached, or a response was wrong."
    ),
    own_failure=True,
    phases=("hold",),
)
def held_requests_failed(sample: Sample, case: Case) -> Iterator[Fired]:
    """Memory per connection has a meaning only if all connections work.

    A server that resets some connections, or responds wrongly on them, seems to need less memory.
    """
    levels = sample.hold.raw if sample.hold else []
    worst = max((level for level in levels if level.idle), key=_failures, default=None)
    if worst is None or not _failures(worst):
        return
    count, asked = _failures(worst), max(1, worst.connections)
    first = worst.evidence
    yield Fired(
        f"with {number(asked)} connections, {number(count)} were lost, or their requests failed or got a wrong response"
        + (f": {first}" if first else ""),
        severity=Severity.INVALID if count > _HELD_MANY * asked else Severity.SUSPECT,
        evidence=worst.model_dump(
            mode="json", include={"connections", "held", "failed", "lost", "evidence", "traffic"}
        ),
    )


def _failures(level: HoldLevel) -> int:
    wrong = level.traffic.requests - level.traffic.ok if level.traffic else 0
    return sum(level.failed.values()) + sum(level.lost.values()) + max(0, wrong)


@on_sample(
    "held-connections-closed",
    Severity.SUSPECT,
    title="The server closed connections that should have stayed open",
    threshold=(
        "a level is a number of connections at which memory is read. The server closed an idle connection of a "
        "level, or announced the close: a note. It closed more than 1 % of a level's connections: suspect. More than "
        "1 % of them were missing when memory was read: invalid"
    ),
    threshold_reason=(
        "a server may close idle connections (RFC 9112 section 9.5). While a level is being reached, touchstone "
        "replaces closed connections. 1 % of the connections changes the figure by about as much as two runs differ"
    ),
    next_step="Raise the server's idle timeout above the time that a level takes, or hold fewer connections.",
    phases=("hold",),
)
def held_connections_closed(sample: Sample, case: Case) -> Iterator[Fired]:
    """A server may close connections.

    But memory per connection can be measured only while the connections are open.
    """
    levels = sample.hold.raw if sample.hold else []
    worst = max((level for level in levels if level.closed), key=_closed, default=None)
    if worst is None or worst.closed is None:
        return
    count, found = _closed(worst), bounds_of(worst.closed)
    bearable = _HELD_MANY * max(1, worst.connections)
    missing = worst.connections - worst.held > bearable
    many = Severity.SUSPECT if count > bearable else Severity.NOTE
    yield Fired(
        f"with {number(worst.connections)} connections, the server closed {number(count)} that should stay open"
        f"{in_words(found)}",
        severity=Severity.INVALID if missing else many,
        next_step=advice(found),
        evidence=worst.model_dump(mode="json", include={"connections", "held", "closed"}),
    )


def _closed(level: HoldLevel) -> int:
    return level.closed.count if level.closed else 0
