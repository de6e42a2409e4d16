"""Rule: the memory limit was hit."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number, size
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.machine_state import machine_state
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

FULL = 0.95
FAULTS = 50


class MemoryLimitHit(SampleRule):
    """At its limit a server is kept alive by the kernel taking pages away.

    It is then slower, or killed.
    """

    code = "memory-limit-hit"
    severity = Severity.SUSPECT
    title = "The memory limit was hit"
    threshold = (
        "anonymous memory above 95 % of the limit; or the kernel counted hits of the limit together with major "
        "faults; invalid if it killed a process"
    )
    threshold_reason = (
        "page cache fills any limit and is given back at once, so it does not count; anonymous memory cannot be "
        "given back"
    )
    next_step = "Raise the limit, or lower the heap; the floor phase searches the smallest limit that is enough."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        limit, result, state = sample.placement.memory_limit, sample.result, machine_state(sample)
        watched = result.watch.window if result and result.watch else None
        killed = max(state.oom_kills or 0, (watched.oom_kills if watched else None) or 0)
        if killed:
            yield self.finding(
                f"the kernel killed {killed} process(es) at the memory limit",
                severity=Severity.INVALID,
                sample=sample,
                evidence=state.model_dump() | {"killed_in_the_window": watched.oom_kills if watched else None},
            )
            return
        if not limit or result is None or result.watch is None:
            return
        anon = max((p.anon for p in result.watch.series if p.anon is not None), default=0)
        faults = result.watch.window.major_faults or 0
        if anon > FULL * limit or (state.memory_limit_hits and faults > FAULTS):
            yield self.finding(
                f"anonymous memory reached {size(anon)} of a limit of {size(limit)}, with {number(faults)} major "
                f"faults",
                sample=sample,
                evidence={
                    "anon_peak": anon,
                    "limit": limit,
                    "major_faults": faults,
                    "limit_hits": state.memory_limit_hits,
                },
            )
