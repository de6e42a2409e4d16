import pytest

from tests.judge.slices import put_slices
from touchstone.record.evidence.slices import WarmUp

from ..sound import fired, first_load, sound_run


@pytest.mark.parametrize(("ended", "count"), [("budget", 1), ("flat", 0), ("died", 0)])
def test_a_warm_up_that_did_not_end_flat(ended: str, count: int) -> None:
    run = sound_run()
    warm_up = WarmUp.model_validate({"ended": ended, "seconds": 45.0, "requests": 90_000, "growth": 0.06})
    put_slices(first_load(run), [20_000.0] * 8, warm_up)
    findings = fired(run, "still-warming-up")
    assert len(findings) == count
    assert all(f.doubt is not None and f.doubt.faster is None for f in findings)


def test_a_whole_window_has_no_warm_up_of_its_own() -> None:
    assert not fired(sound_run(), "still-warming-up")
