import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.engine import SplitResponses
from touchstone.record.run import Run

from ..sound import codes, fired, first_load, result_of, sound_run

CODE = "waits-for-acknowledgement"
ANSWERED = 200_000


def parted(share: float, *, fast: int = 0, trials: int = 16, trials_long: int = 0, wait_s: float = 0.041) -> Run:
    """The rest of this share of the first contender's responses was long in coming, that of `fast` more was not."""
    run = sound_run()
    request = result_of(first_load(run)).requests[0]
    request.ok = ANSWERED
    long = round(share * ANSWERED)
    request.in_parts = SplitResponses(
        responses=long + fast, long=long, seconds=long * wait_s, trials=trials, trials_long=trials_long
    )
    return run


def test_a_rest_that_an_acknowledgement_brings_waited_for_it() -> None:
    (finding,) = fired(parted(0.98), CODE)
    assert finding.severity is Severity.NOTE
    assert "98 % of the responses to lookup" in finding.statement
    assert "41 ms after the first part" in finding.statement and "16 of 16 trials" in finding.statement
    assert "TCP_NODELAY" in finding.next_step
    assert {"throughput", "latency_p50"} <= set(finding.figures or [])
    assert finding.evidence["wait_s"] == pytest.approx(0.041)


@pytest.mark.parametrize(("share", "fires"), [(0.049, False), (0.051, True)])
def test_the_threshold_is_one_response_in_twenty(share: float, fires: bool) -> None:
    assert (CODE in codes(parted(share))) is fires


@pytest.mark.parametrize(("trials", "fires"), [(2, False), (3, True)])
def test_three_trials_are_the_least(trials: int, fires: bool) -> None:
    assert (CODE in codes(parted(1.0, trials=trials))) is fires


def test_a_trial_that_a_busy_machine_held_up_does_not_hide_it() -> None:
    assert CODE in codes(parted(0.95, fast=ANSWERED // 20, trials_long=3))


@pytest.mark.parametrize(
    "run",
    [
        sound_run(),
        parted(1.0, trials_long=16),
        parted(0.0, fast=ANSWERED, trials=0),
        parted(0.1, fast=9 * ANSWERED // 10, trials_long=1),
        parted(0.3, fast=7 * ANSWERED // 10, trials_long=2),
    ],
    ids=["whole", "works between its writes", "undelayed", "seldom late", "often late"],
)
def test_a_rest_that_is_late_for_another_reason_is_not_named(run: Run) -> None:
    assert CODE not in codes(run)
