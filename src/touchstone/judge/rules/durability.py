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
        "least 200 changed rows and commits. Syncs of the log are fewer than a quarter of the commits divided by the "
        f"open sessions, and fewer than 20 a second. (2) At least {LEAST_ASKED} requests that write are sent one at a "
        "time, and after half of these or more the log is not on the disk"
    ),
    threshold_reason=(
        "one sync covers at most one commit of each session. The quarter allows for transactions of several rows, and "
        "the log's writer syncs five times per second by itself. A commit that waits for the disk is on the disk when "
        "it returns, and nothing else writes meanwhile"
    ),
    next_step="Look for `SET synchronous_commit` in the service or its connection string (`options=-c ...`).",
)
def commits_not_durable(sample: Sample, case: Case) -> Iterator[Fired]:
    """A session can turn `synchronous_commit` off for itself, which the server's settings do not show.

    Two things show it. The log was hardly ever flushed to disk. Or, if other contenders on the same server do flush the
    log, its end is not on disk when the response to a single request arrives.
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
        "while a database and its log changed, there were at least 30 looks at the database and 80 at the log. In more "
        "than 98 % of the looks at each, changes waited for the disk. The rule fires if the scenario asks for "
        "`synchronous` (any level but OFF), or if another contender under the same load has changes waiting in less "
        "than 95 % of the looks. With FULL or EXTRA, the log alone is enough"
    ),
    threshold_reason=(
        "with NORMAL, each checkpoint syncs the log, and a whole checkpoint syncs the database. A look during or right "
        "after a sync finds no waiting page. In eleven records of services that sync, changes waited in 79 to 92 % of "
        "the looks at either file. In six records of services that do not sync, changes waited in each of 36 to 209 "
        "looks. The kernel writes by itself every half minute, and the 98 % allow for that. If a service syncs, all of "
        "80 looks find waiting changes by chance once in some thousands of records"
    ),
    next_step="Set `PRAGMA synchronous` as the scenario says, in every connection of the contender that is named.",
)
def writes_not_synced(case: Case) -> Iterator[Fired]:
    """How durably SQLite writes is a setting of each connection. It cannot be queried from outside.

    From outside it can be seen whether changed pages wait for the disk. In a service that flushes its writes, time and
    again no page waits. A service that does not flush leaves all pages to the kernel.
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
