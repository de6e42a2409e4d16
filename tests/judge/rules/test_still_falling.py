import pytest

from touchstone.record.run import Run
from touchstone.record.sample import Sample

from ..sound import codes, fired, first_load, loads, result_of, sound_run


def _short() -> Run:
    run = sound_run(seconds=20.0, noise=0.0)
    for sample in run.samples:
        if sample.result is not None:
            for point in sample.result.series:
                point.t /= 10
    return run


def _falling(sample: Sample, by: float = 0.5) -> None:
    """The second half of the window is slower by this share."""
    window = [p for p in result_of(sample).series if p.phase == "load"]
    for point in window[: len(window) // 2]:
        point.ok = 100_000
    for point in window[len(window) // 2 :]:
        point.ok = round(100_000 * (1 - by))


@pytest.mark.parametrize(("by", "expected"), [(0.16, 1), (0.14, 0)])
def test_a_rate_that_falls_in_every_round_of_a_quick_run(by: float, expected: int) -> None:
    run = _short()
    for sample in loads(run, "go/std"):
        _falling(sample, by)
    assert [finding.contender for finding in fired(run, "still-falling")] == ["go/std"] * expected


def test_one_round_that_falls_is_chance() -> None:
    run = _short()
    _falling(first_load(run))
    assert not fired(run, "still-falling")


def test_a_level_rate_is_none() -> None:
    assert "still-falling" not in codes(_short())


def test_longer_windows_are_for_changepoints() -> None:
    run = sound_run(seconds=20.0)
    for sample in loads(run, "go/std"):
        _falling(sample)
    assert not fired(run, "still-falling")
    assert fired(run, "slowdown-in-window")
