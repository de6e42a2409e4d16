from touchstone.record.run import Run
from touchstone.record.sample import Sample

from ..sound import codes, fired, first_load, loads, result_of, sound_run


def _short() -> Run:
    run = sound_run(seconds=20.0)
    for sample in run.samples:
        if sample.result is not None:
            for point in sample.result.series:
                point.t /= 10
    return run


def _rising(sample: Sample) -> None:
    window = [p for p in result_of(sample).series if p.phase == "load"]
    for index, point in enumerate(window):
        point.ok = int(point.ok * (0.4 + 0.6 * index / len(window)))


def test_a_rate_that_rises_in_every_round_of_a_quick_run() -> None:
    run = _short()
    for sample in loads(run, "go/std"):
        _rising(sample)
    (finding,) = fired(run, "still-rising")
    assert finding.contender == "go/std"
    # A lower bound: it may be faster by any factor, and no slower.
    assert finding.doubt is not None
    assert (finding.doubt.faster, finding.doubt.slower) == (None, 1.0)


def test_one_round_that_rises_is_chance() -> None:
    run = _short()
    _rising(first_load(run))
    assert not fired(run, "still-rising")


def test_a_level_rate_is_none() -> None:
    assert "still-rising" not in codes(_short())


def test_longer_windows_are_for_changepoints() -> None:
    run = sound_run(seconds=20.0)
    for sample in loads(run, "go/std"):
        _rising(sample)
    assert not fired(run, "still-rising")
