import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.sample import DependencyState, Sample

from ..sound import codes, fired, first_load, sound_run
from ..unused import asked_for_the_contract_alone


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


def test_a_dependency_that_only_the_contract_uses_inside_the_load_limits_nothing() -> None:
    run = sound_run()
    sample = first_load(run)
    assert sample.result is not None
    state = asked_for_the_contract_alone(sample, "echo", sample.result.rate.achieved * 1.5)
    sample.dependencies = [state]
    assert not fired(run, "downstream-headroom")
    state.after = dict.fromkeys(state.after, 10_000.0)
    assert fired(run, "downstream-headroom")
