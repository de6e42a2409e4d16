from touchstone.record.sample import DependencyState

from ..sound import codes, fired, first_load, sound_run


def test_a_session_for_every_request() -> None:
    run = sound_run()
    first_load(run).dependencies = [DependencyState(name="database", kind="postgres", sessions_peak=5004)]
    (finding,) = fired(run, "sessions-exceed-pool")
    assert "the pool has 10" in finding.statement


def test_without_a_stated_pool_the_requests_under_way_are_the_measure() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.env = {}
    sample.dependencies = [DependencyState(name="database", kind="postgres", sessions_peak=300)]
    assert fired(run, "sessions-exceed-pool")


def test_a_full_pool_is_right() -> None:
    run = sound_run()
    first_load(run).dependencies = [DependencyState(name="database", kind="postgres", sessions_peak=11)]
    assert codes(run) == set()


def _opened(count: float) -> DependencyState:
    before, after = {"sessions_opened": 5.0}, {"sessions_opened": 5.0 + count}
    return DependencyState(name="database", kind="postgres", sessions_peak=8, before=before, after=after)


def test_sessions_that_are_opened_and_thrown_away_count_though_few_are_open_at_once() -> None:
    run = sound_run()
    first_load(run).dependencies = [_opened(274)]
    (finding,) = fired(run, "sessions-exceed-pool")
    assert "274 sessions were opened" in finding.statement


def test_a_pool_that_is_filled_once_is_right() -> None:
    run = sound_run()
    first_load(run).dependencies = [_opened(10)]
    assert codes(run) == set()


def test_a_downstream_whose_connections_are_thrown_away_counts_alike() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.process.env = {"DOWNSTREAM_POOL": "64"}
    before, after = {"connections_opened": 0.0}, {"connections_opened": 9_000.0}
    sample.dependencies = [DependencyState(name="downstream", kind="echo", before=before, after=after)]
    (finding,) = fired(run, "sessions-exceed-pool")
    assert "9,000 sessions were opened at downstream" in finding.statement
