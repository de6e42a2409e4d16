"""Rule: commits did not wait for the disk, though the scenario asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import SPEED
from touchstone.judge.judgement import Finding, Severity
from touchstone.judge.language.quantity import number
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import LEAST_ASKED, as_a_rule
from touchstone.judge.reading.setting import normal
from touchstone.judge.reading.work import gain
from touchstone.judge.rule import SampleRule
from touchstone.record.sample import DependencyState, Sample

LEAST = 200
SLACK = 4
ROUTINE_PER_S = 20.0


class CommitsNotDurable(SampleRule):
    """A session may turn `synchronous_commit` off for itself, which no look at the server's settings shows.

    What shows it is that the log was hardly ever written through to the disk; or, where other contenders use the same
    server and have it write, that after a request by itself the log's end is not on the disk when the response comes.
    """

    code = "commits-not-durable"
    severity = Severity.SUSPECT
    title = "Commits did not wait for the disk"
    threshold = (
        "PostgreSQL with `fsync` and `synchronous_commit` asked for: at least 200 changed rows and commits, fewer "
        "syncs of the log than a quarter of the commits over the sessions open, and fewer than 20 a second; or at "
        f"least {LEAST_ASKED} requests by themselves that it wrote for, after half of which its log was not on the disk"
    )
    threshold_reason = (
        "one sync covers at most one commit of each session; a transaction of several rows is what the quarter is for, "
        "and the log's writer syncs five times per second by itself; a commit that waits for the disk is on it when it "
        "returns, and nothing else writes meanwhile"
    )
    next_step = "Look for `SET synchronous_commit` in the service or its connection string (`options=-c ...`)."

    def look(self, sample: Sample, case: Case) -> Iterator[Finding]:
        """Look at one sample."""
        result = sample.result
        if result is None:
            return
        elapsed = result.window.whole_s
        for dependency in sample.dependencies:
            if not _asked(dependency):
                continue
            if seen := as_a_rule(dependency, "behind"):
                yield self.finding(
                    f"after {seen.behind} of {seen.asked} responses the log of {dependency.name} was not on the disk",
                    sample=sample,
                    figures=SPEED,
                    evidence=seen.model_dump(),
                )
                continue
            rows = sum(gain(dependency, f"database_tup_{what}") or 0.0 for what in ("inserted", "updated", "deleted"))
            commits, syncs = gain(dependency, "database_xact_commit"), gain(dependency, "wal_sync")
            if commits is None or syncs is None:
                continue
            writes, sessions = min(rows, commits), max(1, dependency.sessions_peak or 1)
            if writes >= LEAST and syncs * SLACK * sessions < writes and syncs < ROUTINE_PER_S * elapsed:
                yield self.finding(
                    f"{dependency.name} committed {number(commits)} times and changed {number(rows)} rows over "
                    f"{sessions} sessions, with {number(syncs)} syncs of its log",
                    sample=sample,
                    figures=SPEED,
                    evidence={"commits": commits, "rows": rows, "syncs": syncs, "sessions": sessions},
                )


def _asked(dependency: DependencyState) -> bool:
    """Whether the scenario asks for durable commits."""
    return all(normal(dependency.asked.get(name)) is True for name in ("fsync", "synchronous_commit"))
