import pytest

from touchstone.judge.judgement import Severity

from ..sound import TARE_RATE, fired, result_of, sound_run, tares


@pytest.mark.parametrize("spread,severity", [(0.1, Severity.NOTE), (0.3, Severity.SUSPECT)])
def test_tares_that_scatter(spread: float, severity: Severity) -> None:
    run = sound_run()
    for number, sample in enumerate(tares(run)):
        result = result_of(sample)
        result.rate.achieved = sample.figures["throughput"] = TARE_RATE * (
            1 + spread * (-1) ** number * (1 + number % 3) / 3
        )
    (finding,) = fired(run, "tare-noise")
    assert finding.severity is severity
    assert finding.doubt is not None
    assert finding.doubt.faster == pytest.approx(1 + finding.evidence["scatter"])


def test_one_disturbed_tare_is_no_noise() -> None:
    run = sound_run()
    sample = tares(run)[2]
    result_of(sample).rate.achieved = sample.figures["throughput"] = TARE_RATE / 2
    result_of(sample).counts.ok //= 2
    assert not fired(run, "tare-noise")
