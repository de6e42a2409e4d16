import pytest

from touchstone.record.run import Run
from touchstone.record.sample import DependencyState

from ..sound import fired, first_load, sound_run


def stored(syncs: int, *, rows: int = 20_000, asked: str = "on", commits: int = 20_000) -> Run:
    run = sound_run()
    before = {"database_tup_inserted": 0.0, "database_xact_commit": 0.0, "wal_sync": 3.0}
    after = {"database_tup_inserted": float(rows), "database_xact_commit": float(commits), "wal_sync": 3.0 + syncs}
    first_load(run).dependencies = [
        DependencyState(
            name="database",
            kind="postgres",
            asked={"fsync": "on", "synchronous_commit": asked},
            settings={"fsync": "on", "synchronous_commit": asked},
            before=before,
            after=after,
            sessions_peak=16,
        )
    ]
    return run


def test_commits_that_hardly_ever_reached_the_disk() -> None:
    (finding,) = fired(stored(55), "commits-not-durable")
    assert "55 syncs" in finding.statement


@pytest.mark.parametrize("syncs", [1_250, 20_000])
def test_one_sync_for_all_sessions_is_durable(syncs: int) -> None:
    assert not fired(stored(syncs), "commits-not-durable")


def test_reading_needs_no_sync() -> None:
    assert not fired(stored(5, rows=0), "commits-not-durable")


def test_few_commits_of_many_rows_need_few_syncs() -> None:
    assert not fired(stored(20, commits=150), "commits-not-durable")


def test_a_scenario_that_asks_for_none() -> None:
    assert not fired(stored(5, asked="off"), "commits-not-durable")
