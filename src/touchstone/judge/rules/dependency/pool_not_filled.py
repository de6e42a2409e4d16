"""Rule: fewer sessions were open than the pool has, though requests waited for one."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.sessions import stated_pool
from touchstone.judge.reading.traffic import loop, slots
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import Sample

CROWD = 4
"""So many requests under way for each session of the pool: however fast the database is, all are wanted at times."""
WINDOW_S = 1.0
"""Sessions are looked at four times per second."""


class PoolNotFilled(SampleRule):
    """A pool that is sized from the host's cores, or by a library's default, is another one on every machine.

    The scenario fixes its size so that all have the same.
    """

    code = "pool-not-filled"
    severity = Severity.SUSPECT
    title = "Fewer sessions were open than the pool has"
    threshold = (
        "closed loop with at least four requests under way for each session of the stated pool: some sessions at the "
        "dependency, but never more than three quarters of the pool"
    )
    threshold_reason = (
        "with a crowd waiting, a pool opens every session that it may; those that lag behind while the pool is "
        "filled are the other quarter"
    )
    next_step = "Give the pool the scenario's size from its environment variable, instead of cores or a default."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None or loop(sample) != "closed" or result.window.measured_s < WINDOW_S:
            return
        for dependency in sample.dependencies:
            pool, peak = stated_pool(sample, dependency), dependency.sessions_peak
            if not pool or not peak or slots(sample) < CROWD * pool or peak > 0.75 * pool:
                continue
            yield self.finding(
                f"never more than {number(peak)} of the pool's {pool} sessions were open at {dependency.name}, with "
                f"{slots(sample)} requests under way",
                sample=sample,
                figures=SPEED,
                evidence={"sessions_peak": peak, "pool": pool, "under_way": slots(sample)},
            )
