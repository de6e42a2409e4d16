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


@pytest.mark.parametrize(("slower", "found"), [(1, False), (2, False), (3, True)])
def test_half_of_the_rounds_may_be_disturbed_by_chance(slower: int, found: bool) -> None:
    run = sound_run(seconds=20.0, rounds=4)
    for sample in loads(run, "go/std")[:slower]:
        _shape(sample)
    assert bool(fired(run, "slowdown-in-window")) is found
