import pytest

from touchstone.record.sample import Sample

from ..sound import fired, first_load, loads, result_of, sound_run


def _shape(sample: Sample) -> None:
    for i, point in enumerate(p for p in result_of(sample).series if p.phase == "load"):
        point.ok = int(point.ok * (0.5 if i < 5 else 1.0))


def test_a_shape_in_every_round() -> None:
    run = sound_run(seconds=20.0)
    for sample in loads(run, "go/std"):
        _shape(sample)
    found = fired(run, "warm-up-in-window")
    assert {finding.contender for finding in found} == {"go/std"}
    assert len({finding.sample for finding in found}) == len(found) == 5
    # Half as fast at its beginning: it may be twice as fast, and no slower.
    for finding in found:
        assert finding.doubt is not None
        assert finding.doubt.faster == pytest.approx(2.0, rel=0.05)
        assert finding.doubt.slower == pytest.approx(1.0, rel=0.02)


def test_one_disturbed_round_is_chance() -> None:
    run = sound_run(seconds=20.0)
    _shape(first_load(run))
    assert not fired(run, "warm-up-in-window")
