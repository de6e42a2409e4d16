import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import TARE_RATE, fired, result_of, sound_run, tares


def _scale(run: Run, factors: list[float]) -> None:
    for sample, factor in zip(tares(run), factors, strict=True):
        result = result_of(sample)
        result.rate.achieved = sample.figures["throughput"] = TARE_RATE * factor


def test_a_machine_that_slows_down_by_a_third() -> None:
    run = sound_run()
    _scale(run, [1.0, 0.94, 0.88, 0.80, 0.72, 0.66])
    (finding,) = fired(run, "tare-drift")
    assert finding.severity is Severity.SUSPECT
    assert "fell" in finding.statement
    assert finding.doubt is not None
    assert finding.doubt.common
    assert finding.doubt.faster == pytest.approx(1.5, rel=0.1)


def test_a_small_drift_is_a_note() -> None:
    run = sound_run()
    _scale(run, [1.0, 0.99, 0.98, 0.96, 0.95, 0.93])
    (finding,) = fired(run, "tare-drift")
    assert finding.severity is Severity.NOTE


def test_noise_is_no_drift() -> None:
    run = sound_run()
    _scale(run, [1.0, 0.9, 1.1, 0.95, 1.05, 0.92])
    assert not fired(run, "tare-drift")


def test_four_tares_in_order_may_be_chance() -> None:
    run = sound_run(rounds=3)
    _scale(run, [1.0, 0.9, 0.85, 0.7])
    assert {f.severity for f in fired(run, "tare-drift")} == {Severity.NOTE}
