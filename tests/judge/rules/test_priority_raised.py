from touchstone.record.evidence.surroundings import Confinement

from ..sound import fired, first_load, sound_run


def test_a_lower_nice_value_than_the_labs() -> None:
    run = sound_run()
    thread = {"pid": 7, "thread": 7, "nice": -5, "usual": 0, "policy": None}
    first_load(run).process.confinement = [Confinement.model_validate({"raised": [thread]})]
    (finding,) = fired(run, "priority-raised")
    assert "nice -5" in finding.statement


def test_a_real_time_policy_is_named() -> None:
    run = sound_run()
    thread = {"pid": 7, "thread": 7, "nice": 0, "usual": 0, "policy": "SCHED_FIFO"}
    first_load(run).process.confinement = [Confinement.model_validate({"raised": [thread]})]
    (finding,) = fired(run, "priority-raised")
    assert "SCHED_FIFO" in finding.statement


def test_a_thread_found_for_another_reason() -> None:
    run = sound_run()
    first_load(run).process.confinement = [
        Confinement.model_validate({"beyond_cpus": [{"pid": 7, "thread": 7, "cpus": [0]}]})
    ]
    assert not fired(run, "priority-raised")
