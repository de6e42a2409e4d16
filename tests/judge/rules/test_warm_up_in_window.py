import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.record.sample import TARE, Sample

from ..slices import CPU_PER_REQUEST, put_slices, sliced_run
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


def _slow_at_first(*, taken: float, cost: float = 1.0) -> Run:
    """In slices go/plain has half of its rate in the first third; others took `taken` of its CPUs meanwhile."""
    run = sliced_run({"go/plain": 10_000.0, "rust/plain": 10_000.0}, laps=36, noise=0.0)
    for sample in loads(run, "go/plain"):
        put_slices(sample, [5_000.0 if lap < 12 else 10_000.0 for lap in range(36)])
        result, slices = result_of(sample), sample.slices
        assert slices is not None
        template = next(point for point in result.series if point.phase == "load")
        result.series = [template.model_copy(update={"t": one.end, "ok": one.ok}) for one in slices.slices]
        for one in slices.slices:
            early = one.lap is not None and one.lap < 12
            one.taken_here = taken if early else 0.0
            one.server_cpu_s = CPU_PER_REQUEST * one.completed * (cost if early else 1.0)
    return run


@pytest.mark.parametrize(
    ("taken", "cost", "severity"),
    [
        (0.0, 1.0, Severity.SUSPECT),
        (0.5, 1.0, Severity.NOTE),
        (0.1, 1.0, Severity.SUSPECT),
        (0.5, 2.0, Severity.SUSPECT),
    ],
)
def test_others_that_took_its_cpus_at_first_are_the_machine(taken: float, cost: float, severity: Severity) -> None:
    found = fired(_slow_at_first(taken=taken, cost=cost), "warm-up-in-window")
    assert {finding.severity for finding in found} == {severity}
    assert {finding.contender for finding in found} == {"go/plain"} and TARE not in str(found)
    assert all(finding.figures == [] and "the machine" in finding.statement for finding in found) is (
        severity is Severity.NOTE
    )
