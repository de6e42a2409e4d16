import pytest

from ..sound import fired, first_load, result_of, sound_run


def leave_open(timeout_s: float, unanswered: int) -> list[object]:
    run = sound_run()
    sample = first_load(run)
    result = result_of(sample)
    sample.spec.timeout_s = timeout_s
    result.counts.unanswered = unanswered
    return list(fired(run, "timeout-beyond-window"))


WATCHED_S = 12.0
"""The sound run's warm-up of 2 s and its window of 10 s."""


@pytest.mark.parametrize(("timeout_s", "count"), [(WATCHED_S + 0.01, 1), (WATCHED_S, 0), (WATCHED_S - 0.01, 0)])
def test_a_timeout_that_cannot_fall_into_the_window(timeout_s: float, count: int) -> None:
    assert len(leave_open(timeout_s, unanswered=3)) == count


def test_a_long_timeout_harms_nobody_while_all_is_answered() -> None:
    assert not leave_open(WATCHED_S + 10, unanswered=0)
