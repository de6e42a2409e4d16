from touchstone.record.sample import DependencyState

from ..sound import codes, fired, first_load, sound_run


def _state(after: dict[str, float]) -> DependencyState:
    return DependencyState(name="topic", kind="kafka", before={"committed": 10.0}, after=after)


def test_a_broker_that_was_gone_at_the_end() -> None:
    run = sound_run()
    first_load(run).dependencies = [_state({})]
    (finding,) = fired(run, "dependency-died")
    assert "topic (kafka)" in finding.statement


def test_one_that_answers_is_alive() -> None:
    run = sound_run()
    first_load(run).dependencies = [_state({"committed": 12.0})]
    assert codes(run) == set()
