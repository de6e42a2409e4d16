from touchstone.record.evidence.drain import DrainEvidence
from touchstone.record.run import Run

from ..sound import codes, fired, first_load, sound_run


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


def test_messages_that_were_never_processed() -> None:
    assert "3 of 1,000" in fired(_run(lost=3), "messages-lost")[0].statement


def test_a_whole_drain() -> None:
    assert codes(_run()) == set()
