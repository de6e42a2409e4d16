import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.sample import DependencyState, Sample

from ..sound import codes, fired, first_load, sound_run


def _behind(sample: Sample, times: float) -> list[DependencyState]:
    assert sample.result is not None
    ceiling = sample.result.rate.achieved * times
    return [DependencyState(name="downstream", kind="echo", ceiling=ceiling)]


@pytest.mark.parametrize(("times", "severity"), [(1.5, Severity.SUSPECT), (3.0, Severity.NOTE)])
def test_a_downstream_that_could_answer_little_more(times: float, severity: Severity) -> None:
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = _behind(sample, times)
    (finding,) = fired(run, "downstream-headroom")
    assert finding.severity is severity
    assert f"{times:.1f} times" in finding.statement


def test_a_saturated_downstream_is_said_once() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = _behind(sample, 1.02)
    assert codes(run) == {"dependency-saturated"}


def test_a_downstream_with_plenty_left() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = _behind(sample, 5.0)
    assert codes(run) == set()
