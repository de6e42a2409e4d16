from touchstone.record.evidence.drain import DrainEvidence
from touchstone.record.run import Run

from ..sound import fired, first_load, sound_run


def _run(stood_still: dict[str, float]) -> Run:
    run = sound_run()
    produced = {str(p): 200 for p in range(5)}
    sample = first_load(run).model_copy(
        deep=True, update={"id": "drain-1", "phase": "drain", "load": None, "evidence": None}
    )
    sample.figures = {"drain_rate": 100.0}
    sample.evidence = DrainEvidence(
        produced=produced, consumed=produced, lost=0, doubled=0, out_of_order=0, stood_still=stood_still
    )
    run.samples.append(sample)
    return run


def test_a_partition_that_waits_for_the_others() -> None:
    (finding,) = fired(_run({"0": 0.0, "1": 0.78, "2": 0.3}), "partition-stood-still")
    assert "partition 1 stood still for 78 %" in finding.statement


def test_short_pauses_are_usual() -> None:
    assert not fired(_run({"0": 0.02, "1": 0.1, "2": 0.0}), "partition-stood-still")
