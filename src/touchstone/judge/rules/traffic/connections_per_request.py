"""Rule: connections a request are not as the scenario states."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.closes import advice, bounds, in_words
from touchstone.judge.reading.traffic import answered_in_all, asked_connections, keeps_alive
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

OFTEN = 0.01
SELDOM = 0.9


class ConnectionsPerRequest(SampleRule):
    """Opening a connection costs as much as several requests.

    A server that closes after each answer is measured on its set-up, one that is kept where it should not be is
    spared it.
    """

    code = "connections-per-request"
    severity = Severity.SUSPECT
    title = "Connections a request are not as the scenario states"
    threshold = (
        "over warm-up and window together, keep-alive: more than 1 % of requests needed a new connection, those apart "
        "that the server closed while other contenders had their turn; without keep-alive: fewer than 0.9 connections "
        "a request"
    )
    threshold_reason = (
        "a server may close a connection after some hundreds of requests by its settings; at 1 % set-up costs a "
        "few percent of a short request, the least that matters"
    )
    next_step = "Look at the server's keep-alive and idle settings, and for a `Connection: close` in its answers."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or not result.counts.completed:
            return
        answered, opened = answered_in_all(result), result.connections
        if keeps_alive(sample):
            anew = opened.reconnects - _closed_at_rest(sample)
            rate = anew / answered
            if rate > OFTEN and anew > asked_connections(sample):
                found = bounds(sample)
                yield self.finding(
                    f"{number(anew)} connections were opened anew over {number(answered)} requests "
                    f"({share(rate)}), though the load keeps them{in_words(found)}",
                    next_step=advice(found, self.next_step),
                    sample=sample,
                    figures=[*SPEED, *CPU],
                    evidence=opened.model_dump(),
                )
        elif opened.opened / answered < SELDOM:
            yield self.finding(
                f"{number(opened.opened)} connections served {number(answered)} requests, though the load wants one "
                f"for each",
                sample=sample,
                figures=[*SPEED, *CPU],
                evidence=opened.model_dump(),
            )


def _closed_at_rest(sample: Sample) -> int:
    """Connections that were closed before a turn began: a server may end what nobody has used for a while.

    At most as many in each turn as the load has; one that closes after each answer closes many more.
    """
    turns = sample.slices.slices if sample.slices else []
    return sum(min(turn.connection_errors.get("closed_idle", 0), asked_connections(sample)) for turn in turns)
