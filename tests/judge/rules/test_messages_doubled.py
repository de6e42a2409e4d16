from touchstone.record.evidence.drain import DrainEvidence
from touchstone.record.run import Run

from ..sound import fired, first_load, sound_run


def _run(**log: object) -> Run:
    run = sound_run()
    produced = {str(p): 200 for p in range(5)}
    found = {"produced": produced, "consumed": produced, "lost": 0, "doubled": 0, "out_of_order": 0} | log
    sample = first_load(run).model_copy(
        deep=True, update={"id": "drain-1", "phase": "drain", "load": None, "evidence": None}
    )
    sample.figures, sample.evidence = {"drain_rate": 500.0}, DrainEvidence.model_validate(found)
    run.samples.append(sample)
    return run


def test_messages_that_came_twice() -> None:
    assert "7 of 1,000" in fired(_run(doubled=7), "messages-doubled")[0].statement


def test_messages_out_of_order_are_not_doubled() -> None:
    assert not fired(_run(out_of_order=7), "messages-doubled")
