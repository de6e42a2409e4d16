"""Rule: more sessions were open than the pool allows."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.sessions import opened, stated_pool
from touchstone.judge.reading.traffic import slots
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

REPLACED = 3
"""A pool may open each of its sessions anew a few times within a load."""


class SessionsExceedPool(SampleRule):
    """A session for every request is a leak, and it is the database or the downstream that suffers.

    The pool's size is fixed by the scenario so that all have the same.
    """

    code = "sessions-exceed-pool"
    severity = Severity.SUSPECT
    title = "More sessions were open than the pool allows"
    threshold = (
        "sessions at the dependency above the stated pool by more than two and by more than a tenth; without a "
        "stated pool, above twice the connections of the load and 16 more; or more than three times the pool opened "
        "within the load, by the dependency's own counter"
    )
    threshold_reason = (
        "a pool may replace a session before the old one is gone, and the lab holds one itself; a service needs "
        "at most one session a request under way"
    )
    next_step = "Look for results, statements or connections that are never closed, and for a pool without a limit."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        for dependency in sample.dependencies:
            pool = stated_pool(sample, dependency)
            new = opened(dependency)
            if pool and new is not None and new > REPLACED * pool:
                yield self.finding(
                    f"{number(new)} sessions were opened at {dependency.name} in the load, with a pool of {pool}",
                    sample=sample,
                    evidence={"sessions_opened": new, "pool": pool, "limit": REPLACED * pool},
                )
                continue
            sessions = dependency.sessions_peak
            if sessions is None:
                continue
            limit = max(pool + 2, pool * 1.1) if pool else 2 * slots(sample) + 16 if sample.result else None
            if limit is None or sessions <= limit:
                continue
            stated = f"a pool of {pool}" if pool else f"{slots(sample)} requests under way"
            yield self.finding(
                f"{number(sessions)} sessions were open at {dependency.name}, with {stated}",
                sample=sample,
                evidence={"sessions_peak": sessions, "pool": pool, "limit": limit},
            )
