import pytest

from touchstone.record.run import Run
from touchstone.record.sample import AfterAnswers, DependencyState

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


@pytest.mark.parametrize("behind,told", [(5, False), (6, True)])
def test_a_log_that_lags_behind_the_responses_of_one_of_several(behind: int, told: bool) -> None:
    run = stored(20_000)
    first_load(run).dependencies[0].after_answers = AfterAnswers(asked=12, behind=behind)
    found = fired(run, "commits-not-durable")
    assert bool(found) is told
    assert not told or "6 of 12 responses" in found[0].statement


def test_a_lag_that_the_scenario_allows() -> None:
    run = stored(20_000, asked="off")
    first_load(run).dependencies[0].after_answers = AfterAnswers(asked=12, behind=12)
    assert not fired(run, "commits-not-durable")
