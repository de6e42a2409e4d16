"""Rule: fewer connections were held than asked for."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.closes import advice, bounds, in_words
from touchstone.judge.reading.traffic import (
    answered_in_all,
    asked_connections,
    keeps_alive,
    measured_points,
    pauses,
)
from touchstone.judge.rule import SampleRule
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample

FEW = 0.02
MANY = 0.10
EACH = 0.5


class ConnectionsNotHeld(SampleRule):
    """A load of 200 connections of which 100 exist is another load.

    Concurrency is part of the question.
    """

    code = "connections-not-held"
    severity = Severity.SUSPECT
    title = "Fewer connections were held than asked for"
    threshold = (
        "with keep-alive, fewer than 98 % of the connections established, held at the end, or held in the middle one "
        "of the window's readings: suspect; fewer than 90 %: invalid. A note where users pause and the server closes "
        "what rests, without an error. Not of a server that closes after its answers: one new connection for every two "
        "requests or more, and no error"
    )
    threshold_reason = (
        "one or two may be between closing and opening when they are counted, and where most are, the end alone may "
        "be a lucky moment; a tenth missing changes throughput and latency by more than the margin; a user who "
        "pauses opens a connection again when it is needed; a server that closes after each answer holds none at any "
        "moment, and `connections-per-request` says so"
    )
    next_step = (
        "Look at the server's limit of connections and backlog, at descriptor limits (`ulimit -n`), and at the "
        "first connect error."
    )
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        asked = asked_connections(sample)
        if result is None or not asked or not keeps_alive(sample) or _closes_after_answers(result):
            return
        in_window = [point.connections for point in measured_points(result)]
        typical = int(median(in_window)) if in_window else asked
        least = min(result.connections.established, result.connections.held, typical)
        missing = asked - least
        if missing <= max(1, FEW * asked):
            return
        found = bounds(sample)
        severity = Severity.INVALID if missing > MANY * asked else Severity.SUSPECT
        yield self.finding(
            f"{least} of {asked} connections were held{in_words(found)}",
            severity=Severity.NOTE if found and pauses(sample) and _is_without_error(result) else severity,
            next_step=advice(found, self.next_step),
            sample=sample,
            evidence={**result.connections.model_dump(), "typical": typical},
        )


def _closes_after_answers(result: LoadResult) -> bool:
    """Whether the connections that are missing are those that an answer closed."""
    return _is_without_error(result) and result.connections.reconnects >= EACH * max(1, answered_in_all(result))


def _is_without_error(result: LoadResult) -> bool:
    errors = result.connections.errors
    return not (result.counts.not_right or errors.refused or errors.connect_failed)
