from touchstone.record.sample import Sample

from ..sound import fired, first_load, loads, result_of, sound_run


def _shape(sample: Sample) -> None:
    for i, point in enumerate(p for p in result_of(sample).series if p.phase == "load"):
        point.ok = int(point.ok * (1.0 if (i // 4) % 2 else 0.6))


def test_a_shape_in_every_round() -> None:
    run = sound_run(seconds=20.0)
    for sample in loads(run, "go/std"):
        _shape(sample)
    (finding,) = fired(run, "no-steady-state")
    assert finding.contender == "go/std"
    assert len(finding.evidence["samples"]) == 5


def test_one_disturbed_round_is_chance() -> None:
    run = sound_run(seconds=20.0)
    _shape(first_load(run))
    assert not fired(run, "no-steady-state")
