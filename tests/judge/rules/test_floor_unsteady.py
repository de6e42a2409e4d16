from touchstone.record.evidence.floor import FloorEvidence
from touchstone.record.run import Run

from ..sound import fired, first_load, sound_run


def _run(rates: list[float]) -> Run:
    run = sound_run()
    sample = first_load(run).model_copy(deep=True, update={"id": "floor-1", "phase": "floor", "evidence": None})
    sample.figures = {"floor_passes": 8.0 * 2**20}
    sample.evidence = FloorEvidence(share=0.9, unlimited_rates=rates, tries=[])
    run.samples.append(sample)
    return run


def test_a_rate_that_moves_by_more_than_a_limit_may_cost() -> None:
    (finding,) = fired(_run([1431.5, 1110.5, 1069.5, 1355.5]), "floor-unsteady")
    assert "25 % apart" in finding.statement
    assert finding.figures == ["floor_passes"]


def test_a_few_percent_are_usual() -> None:
    assert not fired(_run([1000.0, 970.0, 985.0, 940.0]), "floor-unsteady")
