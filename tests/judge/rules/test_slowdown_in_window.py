import pytest

from touchstone.record.sample import Sample

from ..sound import fired, first_load, loads, result_of, sound_run


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


def test_one_disturbed_round_is_chance() -> None:
    run = sound_run(seconds=20.0)
    _shape(first_load(run))
    assert not fired(run, "slowdown-in-window")
