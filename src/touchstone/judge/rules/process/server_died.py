"""Rule: the server ended while it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import seconds
from touchstone.judge.reading.case import Case
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample


class ServerDied(SampleRule):
    """Nothing measured around a death belongs to the service: the rest is refused connections."""

    code = "server-died"
    severity = Severity.INVALID
    title = "The server ended before it was asked to"
    threshold = "an exit before the stop signal, or no process left in its tree during the load"
    threshold_reason = "a service that ends under load has failed, whatever it answered before"
    next_step = "Read the end of the server's log; look for memory limits, unhandled errors and signals."
    own_failure = True
    explains_others = True
    phases = None
    looks_at_tares = True

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at the exit that the lab saw, then at what the engine saw."""
        watch = sample.result.watch if sample.result else None
        gone = next((p.t for p in (watch.series if watch else []) if p.processes == 0), None)
        exited = watch.exited if watch else None
        if sample.server_exit is None and not exited and gone is None:
            return
        how = sample.server_exit or (str(exited) if exited else "no process was left")
        when = f" at {seconds(gone)} of the load" if gone is not None else ""
        yield self.finding(
            f"the server ended before it was asked to{when}: {how}",
            sample=sample,
            evidence={"exit": sample.server_exit, "watch_exited": exited, "gone_at_s": gone},
        )
