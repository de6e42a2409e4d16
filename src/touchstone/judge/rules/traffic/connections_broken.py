"""Rule: connections were refused, reset or cut."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.traffic import allowance, error_share, first_errors
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

BROKEN = (
    "refused",
    "reset",
    "closed_mid_response",
    "closed_before_response",
    "connect_failed",
    "malformed",
)


class ConnectionsBroken(SampleRule):
    """A request whose connection broke was not served.

    Tools that open another one and go on hide it.
    """

    code = "connections-broken"
    severity = Severity.INVALID
    title = "Connections were refused, reset or cut"
    threshold = (
        "any connection refused, reset, not made, cut before or within a response, or a response that is no HTTP: "
        "invalid above the load's error allowance, otherwise suspect"
    )
    threshold_reason = (
        "on a loopback nothing is lost by chance: each of these is an act of the server, or a limit that was reached"
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
        classes = {name: n for name in BROKEN if (n := getattr(result.counts.errors, name))}
        if not classes:
            return
        named = ", ".join(f"{number(n)} {name.replace('_', ' ')}" for name, n in classes.items())
        yield self.finding(
            f"connections broke under {number(result.counts.sent)} requests: {named}",
            severity=Severity.INVALID if error_share(result) > allowance(sample) else Severity.SUSPECT,
            sample=sample,
            evidence={"errors": classes, "first_errors": first_errors(result, *BROKEN)},
        )
