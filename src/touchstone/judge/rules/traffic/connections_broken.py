"""Rule: connections were refused, reset or cut."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.closes import advice, bounds, in_words
from touchstone.judge.reading.traffic import allowance, first_errors
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

BROKEN = ("reset", "closed_mid_response", "closed_before_response", "kept_connection_closed", "malformed")
"""Classes of requests whose connection broke."""
NOT_MADE = ("refused", "connect_failed", "unasked_bytes")
"""Classes of connections that broke without a request."""
MANY = 0.01
"""A share of repeated requests that costs as much as the least effect that matters: each has two attempts and a new
connection in its latency."""
_KEPT_LONGER = (
    "A request that is not idempotent may not be sent again (RFC 9110 section 9.2.2): have the server keep connections "
    "for longer than they rest here, or close them with a response that says so."
)


class ConnectionsBroken(SampleRule):
    """A request whose connection broke was not served.

    Tools that open another one and go on hide it.
    """

    code = "connections-broken"
    severity = Severity.INVALID
    title = "Connections were refused, reset or cut"
    threshold = (
        "any request whose connection was reset, or cut before or within a response, or whose response is no HTTP; any "
        "connection refused, not made, or with bytes that no request asked for: invalid above the load's error "
        "allowance, otherwise suspect. Requests sent once more because the server had closed a kept connection under "
        "them: suspect from 1 % on, or where the closes follow no bound of responses or rest; otherwise a note"
    )
    threshold_reason = (
        "on a loopback nothing is lost by chance: each of these is an act of the server, or a limit that was reached. "
        "A server may close a connection that it keeps (RFC 9112 section 9.5); clients then send idempotent requests "
        "again; a server that loses requests looks the same, but follows no bound"
    )
    next_step = (
        "Look for the server's limits of connections, backlog and descriptors, and at what its log says at that moment."
    )
    own_failure = True
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None:
            return
        closed = result.connections.closed
        requests = {name: n for name in BROKEN if (n := getattr(result.counts.errors, name))}
        classes = requests | {name: n for name in NOT_MADE if (n := getattr(result.connections.errors, name))}
        found = bounds(sample)
        if classes:
            named = ", ".join(f"{number(n)} {name.replace('_', ' ')}" for name, n in classes.items())
            above = sum(classes.values()) > allowance(sample) * result.counts.sent
            yield self.finding(
                f"connections broke under {number(result.counts.sent)} requests: {named}{in_words(found)}",
                severity=Severity.INVALID if above else Severity.SUSPECT,
                next_step=_KEPT_LONGER if set(classes) == {"kept_connection_closed"} else self.next_step,
                sample=sample,
                evidence={"errors": classes, "first_errors": first_errors(result, *BROKEN, *NOT_MADE)},
            )
        elif repeated := result.counts.repeated:
            part = repeated / max(1, result.counts.sent)
            yield self.finding(
                f"{number(repeated)} of {number(result.counts.sent)} requests ({share(part)}) were sent once more: the "
                f"server had closed a kept connection without a byte of their response{in_words(found)}",
                severity=Severity.SUSPECT if part >= MANY or not found else Severity.NOTE,
                next_step=advice(found, self.next_step),
                sample=sample,
                figures=[*SPEED, *CPU],
                evidence={"repeated": repeated, "closed": closed.model_dump() if closed else None},
            )
