"""The judge is right as often as it says, within what the number of trials can show."""

import numpy as np
import pytest
from benchmarks.calibration.trials import (
    LOUD,
    QUIET,
    USUAL,
    Noise,
    from_residuals,
    rates,
    recorded_residuals,
    until_decided,
)

from tests.judge.sound import sound_run

TRIALS = 400
# Three standard errors of a share near 5 % over 400 trials.
SLACK = 0.033


@pytest.mark.parametrize("noise", [QUIET, USUAL, LOUD], ids=lambda n: n.name)
@pytest.mark.parametrize("rounds", [2, 5, 15])
def test_the_same_contender_twice_is_rarely_different(noise: Noise, rounds: int) -> None:
    r = rates(noise.effects, effect=0.0, rounds=rounds, trials=TRIALS, margin=0.05, confidence=0.95)
    assert r.found + r.wrong <= 0.05 + SLACK
    assert r.covered >= 0.95 - SLACK
    assert r.found + r.wrong + r.equivalent + r.open == pytest.approx(1)


def test_a_large_difference_is_found_and_a_small_one_called_equivalent() -> None:
    large = rates(QUIET.effects, effect=0.10, rounds=10, trials=TRIALS, margin=0.05, confidence=0.95)
    small = rates(QUIET.effects, effect=0.01, rounds=20, trials=TRIALS, margin=0.05, confidence=0.95)
    assert large.found > 0.9
    assert small.equivalent > 0.9


def test_more_rounds_find_more() -> None:
    found = [
        rates(USUAL.effects, effect=0.05, rounds=n, trials=TRIALS, margin=0.05, confidence=0.95).found
        for n in (5, 10, 20)
    ]
    assert found == sorted(found)


def test_sharing_the_error_among_looks_keeps_false_differences_rare() -> None:
    shared = until_decided(LOUD.effects, effect=0.0, most=20, trials=TRIALS, margin=0.05, confidence=0.95)
    careless = until_decided(
        LOUD.effects, effect=0.0, most=20, trials=TRIALS, margin=0.05, confidence=0.95, share_error=False
    )
    assert shared.found + shared.wrong <= 0.05 + SLACK
    assert careless.found + careless.wrong > 0.10


def test_residuals_of_a_run_have_the_noise_that_was_put_in() -> None:
    residuals = recorded_residuals(sound_run(rounds=40, noise=0.03))
    assert len(residuals) == 120
    assert np.std(residuals) == pytest.approx(0.03, rel=0.25)
    assert from_residuals(residuals)(np.random.default_rng(1), 7).shape == (7,)
