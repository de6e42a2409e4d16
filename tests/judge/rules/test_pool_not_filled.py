from touchstone.record.sample import DependencyState
from touchstone.vocabulary.dependency import DEPENDENCIES

from ..sound import codes, fired, first_load, sound_run


def _with(sessions: int) -> DependencyState:
    return DependencyState(name="database", kind="postgres", sessions_peak=sessions)


def test_a_pool_of_half_the_size_that_the_scenario_states() -> None:
    run = sound_run()
    first_load(run).dependencies = [_with(5)]
    (finding,) = fired(run, "pool-not-filled")
    assert "5 of the pool's 10 sessions" in finding.statement


def test_a_filled_pool_is_right() -> None:
    run = sound_run()
    first_load(run).dependencies = [_with(10)]
    assert codes(run) == set()


def test_a_load_that_does_not_touch_the_dependency_fills_no_pool() -> None:
    run = sound_run()
    first_load(run).dependencies = [_with(0)]
    assert codes(run) == set()


def test_requests_of_the_contract_within_a_load_without_the_dependency_fill_no_pool() -> None:
    run = sound_run()
    counters = [name for counter in DEPENDENCIES["postgres"].work for name in counter.counters]
    state = _with(1)
    state.before, state.after = dict.fromkeys(counters, 3.0), dict.fromkeys(counters, 24.0)
    sample = first_load(run)
    assert sample.result is not None
    sample.result.totals.ok = 10_000
    sample.dependencies = [state]
    assert not fired(run, "pool-not-filled")
    state.after = dict.fromkeys(counters, 10_000.0)
    assert fired(run, "pool-not-filled")


def test_a_few_requests_at_a_time_need_not_fill_it() -> None:
    run = sound_run()
    sample = first_load(run)
    assert sample.result is not None
    sample.dependencies = [_with(5)]
    sample.result.connections.established = 12
    sample.spec.connections = 12
    assert not fired(run, "pool-not-filled")
