from touchstone.record.sample import DependencyState

from ..sound import codes, fired, first_load, sound_run
from ..unused import asked_for_the_contract_alone


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
    sample = first_load(run)
    state = asked_for_the_contract_alone(sample, "postgres", 1e9)
    sample.dependencies = [state]
    assert not fired(run, "pool-not-filled")
    state.after = dict.fromkeys(state.after, 10_000.0)
    assert fired(run, "pool-not-filled")


def test_a_few_requests_at_a_time_need_not_fill_it() -> None:
    run = sound_run()
    sample = first_load(run)
    assert sample.result is not None
    sample.dependencies = [_with(5)]
    sample.result.connections.established = 12
    sample.spec.connections = 12
    assert not fired(run, "pool-not-filled")
