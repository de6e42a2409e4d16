import pytest

from touchstone.record.sample import Sample

from ..sound import fired, loads, result_of, sound_run


def _shape(sample: Sample) -> None:
    for i, point in enumerate(p for p in result_of(sample).series if p.phase == "load"):
        point.ok = int(point.ok * (1.0 if i < 8 else 0.7))


def test_a_shape_in_every_round() -> None:
    run = sound_run(seconds=20.0)
    for sample in loads(run, "go/std"):
        _shape(sample)
    (finding,) = fired(run, "slowdown-in-window")
    assert finding.contender == "go/std"
    assert len(finding.evidence["samples"]) == 5
    assert finding.doubt is not None
    assert finding.doubt.faster == pytest.approx(1 / 0.7, rel=0.05)
    assert finding.doubt.slower is None


def test_a_shape_in_most_rounds() -> None:
    run = sound_run(seconds=20.0, rounds=4)
    for sample in loads(run, "go/std")[:3]:
        _shape(sample)
    assert fired(run, "slowdown-in-window")


@pytest.mark.parametrize("slower", [1, 2])
def test_half_of_the_rounds_may_be_disturbed_by_chance(slower: int) -> None:
    run = sound_run(seconds=20.0, rounds=4)
    for sample in loads(run, "go/std")[:slower]:
        _shape(sample)
    assert not fired(run, "slowdown-in-window")


def test_a_single_round_that_was_long_enough_is_not_all_of_them() -> None:
    run = sound_run(seconds=20.0, rounds=4)
    first, *cut = loads(run, "go/std")
    _shape(first)
    for sample in cut:
        series = result_of(sample).series
        series[:] = [p for p in series if p.phase != "load"] + [p for p in series if p.phase == "load"][:5]
    assert not fired(run, "slowdown-in-window")
