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


def test_a_full_partition() -> None:
    assert fired(_run(produced={"0": 400, "1": 150, "2": 150, "3": 150, "4": 150}), "partitions-unbalanced")


def test_a_remainder() -> None:
    assert not fired(_run(produced={"0": 201, "1": 200, "2": 200, "3": 200, "4": 200}), "partitions-unbalanced")
