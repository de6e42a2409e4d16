import pytest

from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.run import Run

from ..sound import codes, fired, sound_run


def _run(other: float, steal: float, wall: float = 15.0) -> Run:
    run = sound_run()
    sample = next(s for s in run.samples if s.phase == "build")
    sample.machine = MachineState.model_validate({"wall_s": wall, "other_cpu_s": other, "steal_s": steal})
    return run


@pytest.mark.parametrize(("other", "steal"), [(12.0, 0.0), (0.5, 4.0)])
def test_a_neighbour_during_the_build(other: float, steal: float) -> None:
    (finding,) = fired(_run(other, steal), "build-disturbed")
    assert finding.figures and "build_cold" in finding.figures
    assert finding.doubt and finding.doubt.faster == pytest.approx(15.0 / (15.0 - other - steal))
    assert finding.doubt.slower == 1.0


@pytest.mark.parametrize(("other", "steal"), [(0.9, 0.1), (0.5, 1.0)])
def test_what_cannot_make_a_difference_of_builds_is_no_disturbance(other: float, steal: float) -> None:
    assert codes(_run(other, steal)) == set()


def test_of_a_build_of_milliseconds_the_ticks_tell_nothing() -> None:
    assert codes(_run(0.029, 0.0, wall=0.026)) == set()
