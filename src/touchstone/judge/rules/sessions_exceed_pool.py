"""Rule: more sessions were open than the pool allows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from touchstone.judge.case import Case
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.quantity import number
from touchstone.judge.rule import SampleRule
from touchstone.judge.traffic import slots
from touchstone.record.sample import DependencyState, Sample

REPLACED = 3
"""A pool may open each of its sessions anew a few times within a load."""


class SessionsExceedPool(SampleRule):
    """A session for every request is a leak, and it is the database that suffers.

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
            pool = _pool(sample, dependency)
            opened = _opened(dependency)
            if pool and opened is not None and opened > REPLACED * pool:
                yield self.finding(
                    f"{number(opened)} sessions were opened at {dependency.name} in the load, with a pool of {pool}",
                    sample=sample,
                    evidence={"sessions_opened": opened, "pool": pool, "limit": REPLACED * pool},
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


def _opened(dependency: DependencyState) -> float | None:
    """Sessions opened within the load, by the dependency's own counter; None if it has none."""
    if "sessions_opened" not in dependency.before or "sessions_opened" not in dependency.after:
        return None
    return dependency.after["sessions_opened"] - dependency.before["sessions_opened"]


def _pool(sample: Sample, dependency: DependencyState) -> int | None:
    """The pool's size by the scenario's settings: a variable with POOL in its name, the dependency's own first."""
    found = {
        name.upper(): int(value)
        for name, value in sample.env.items()
        if "POOL" in name.upper() and re.fullmatch(r"\d+", value)
    }
    own = [n for name, n in found.items() if dependency.name.upper() in name or dependency.kind.upper() in name]
    if own:
        return max(own)
    return next(iter(found.values())) if len(found) == 1 else None
