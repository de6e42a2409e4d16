"""Rules on durability: whether commits of a contender are on disk."""

from __future__ import annotations

from collections.abc import Iterator

from touchstone.judge.figures import CPU, SPEED
from touchstone.judge.judgement import Severity
from touchstone.judge.language.quantity import number, share
from touchstone.judge.reading.case import Case
from touchstone.judge.reading.dependencies import LEAST_ASKED, as_a_rule
from touchstone.judge.reading.setting import normal
from touchstone.judge.reading.work import gain
from touchstone.judge.rule import Fired, on_run, on_sample
from touchstone.record.sample import TARE, DependencyState, Sample

_COMMITS_NOT_DURABLE_LEAST = 200
_COMMITS_NOT_DURABLE_SLACK = 4
_ROUTINE_PER_S = 20.0


@on_sample(
    "commits-not-durable",
    Severity.SUSPECT,
    title="Commits did not wait for the disk",
    threshold=(
        "the scenario asks PostgreSQL for `fsync` and `synchronous_commit`, and one of two is true. (1) There are at "
        "least 200 changed rows and commits. The log was synced fewer than 20 times a second. The number of syncs is "
        f"also below a quarter of this quotient: commits divided by open sessions. (2) At least {LEAST_ASKED} "
        "requests that write are sent one at a time, and after at least half of them the log is not on the disk"
    ),
    threshold_reason=(
        "one sync covers at most one commit of each session. The quarter allows for transactions of several rows. "
        "The 20 allow for the log writer, which syncs five times per second by itself. In condition 2 nothing else "
        "writes, and a durable commit is on the disk when it returns"
    ),
    next_step="Look for `SET synchronous_commit` in the service or its connection string (`options=-c ...`).",
)
def commits_not_durable(sample: Sample, case: Case) -> Iterator[Fired]:
    """A session can turn `synchronous_commit` off for itself.

    The server's settings do not show this, but the log does: it was hardly ever flushed to disk. If other contenders on
    the same server flush the log, touchstone sends single requests. Without durable commits, the end of the log is not
    on disk when the response arrives.
    """
    result = sample.result
    if result is None:
        return
    elapsed = result.window.whole_s
    for dependency in sample.dependencies:
        if not _asked(dependency):
            continue
        if seen := as_a_rule(dependency, "behind"):
            yield Fired(
                f"the log of {dependency.name} was not yet on disk when {seen.behind} of {seen.asked} responses "
                "arrived",
                figures=SPEED,
                evidence=seen.model_dump(),
            )
            continue
        rows = sum(gain(dependency, f"database_tup_{what}") or 0.0 for what in ("inserted", "updated", "deleted"))
        commits, syncs = gain(dependency, "database_xact_commit"), gain(dependency, "wal_sync")
        if commits is None or syncs is None:
            continue
        writes, sessions = min(rows, commits), max(1, dependency.sessions_peak or 1)
        if (
            writes >= _COMMITS_NOT_DURABLE_LEAST
            and syncs * _COMMITS_NOT_DURABLE_SLACK * sessions < writes
            and syncs < _ROUTINE_PER_S * elapsed
        ):
            yield Fired(
                f"{dependency.name} committed {number(commits)} times and changed {number(rows)} rows over "
                f"{sessions} sessions, but made only {number(syncs)} syncs of its log",
                figures=SPEED,
                evidence={"commits": commits, "rows": rows, "syncs": syncs, "sessions": sessions},
            )


def _asked(dependency: DependencyState) -> bool:
    """Whether the scenario asks for durable commits."""
    return all(normal(dependency.asked.get(name)) is True for name in ("fsync", "synchronous_commit"))


_WRITES_NOT_SYNCED_NEVER = 0.98
_WRITES_NOT_SYNCED_SEEN = 0.95
_WRITES_NOT_SYNCED_LOOKS = {"database": 30, "log": 80}


@on_run(
    "writes-not-synced",
    Severity.SUSPECT,
    title="Writes were not flushed to disk",
    threshold=(
        "while database and log changed, touchstone looked at the database at least 30 times and at the log at least "
        "80 times. In more than 98 % of these observations of each file, changes waited for the disk. In addition, "
        "the scenario asks for `synchronous` (any level but OFF), or another contender under the same load has "
        "waiting changes in less than 95 % of the observations. With FULL or EXTRA, the log alone is enough"
    ),
    threshold_reason=(
        "with NORMAL, each checkpoint syncs the log, and a complete checkpoint syncs the database. During or right "
        "after a sync no page waits. In eleven records of services that sync, changes waited in 79 to 92 % of the "
        "observations. In six records of services that do not sync, changes waited in all of 36 to 209 observations. "
        "The 98 % allow for the kernel, which writes by itself every half minute. A service that syncs has waiting "
        "changes in all of 80 observations once in some thousands of records"
    ),
    next_step="Set `PRAGMA synchronous` as the scenario says, in every connection of the named contender.",
)
def writes_not_synced(case: Case) -> Iterator[Fired]:
    """In SQLite, durability is a setting of each connection and cannot be read from outside.

    But the changed pages that wait to be written to disk can be counted from outside. If the service flushes its
    writes, there are moments without waiting pages. If it does not flush, pages wait all the time, until the kernel
    writes them.
    """
    seen = [
        (sample, state)
        for sample in case.run.samples
        if sample.phase == "load" and sample.contender != TARE
        for state in sample.dependencies
        if state.written
    ]
    for sample, state in seen:
        others = [s for o, s in seen if o.load == sample.load and s.name == state.name and s is not state]
        level = str(state.asked.get("synchronous", "off")).lower()
        never = {file for file in ("database", "log") if (_waited(state, file) or 0.0) > _WRITES_NOT_SYNCED_NEVER}
        each_commit = level in ("full", "extra") and "log" in never
        if each_commit or (len(never) == 2 and (level != "off" or any(map(_syncs, others)))):
            yield _finding(sample, state)


def _finding(sample: Sample, state: DependencyState) -> Fired:
    named = ", ".join(
        f"of its {file} in {share(one.waiting / one.looks)} of {one.looks} checks"
        for file, one in sorted(state.written.items())
        if one.looks
    )
    return Fired(
        f"changed pages of {state.name} waited for the disk without a sync: {named}",
        sample=sample,
        figures=[*SPEED, *CPU],
        evidence={
            "written": {file: one.model_dump() for file, one in state.written.items()},
            "asked": state.asked.get("synchronous"),
        },
    )


def _waited(state: DependencyState, file: str) -> float | None:
    """The share of looks at a changing file at which its changes waited. None of too few."""
    one = state.written.get(file)
    return None if one is None or one.looks < _WRITES_NOT_SYNCED_LOOKS[file] else one.waiting / one.looks


def _syncs(state: DependencyState) -> bool:
    """Whether a contender was seen to have its changes written through."""
    shares = [share for file in ("database", "log") if (share := _waited(state, file)) is not None]
    return bool(shares) and min(shares) < _WRITES_NOT_SYNCED_SEEN
