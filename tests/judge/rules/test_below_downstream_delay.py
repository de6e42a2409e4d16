from touchstone.judge.judgement import Severity
from touchstone.record.sample import DependencyState

from ..sound import codes, fired, first_load, loads, result_of, sound_run


def _downstream(hits: float) -> DependencyState:
    return DependencyState(
        name="downstream", kind="echo", asked={"delay_ms": 10}, before={"hits": 0}, after={"hits": hits}
    )


def test_answers_that_come_before_the_downstreams() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.dependencies = [_downstream(result_of(sample).counts.ok)]
    (finding,) = fired(run, "below-downstream-delay")
    assert finding.severity is Severity.INVALID


def test_a_load_that_does_not_call_the_downstream() -> None:
    run = sound_run()
    first_load(run).dependencies = [_downstream(0)]
    assert codes(run) == set()


def test_answers_after_the_delay() -> None:
    run = sound_run(contenders={"go/std": 5_000.0})
    for sample in loads(run):
        sample.dependencies = [_downstream(result_of(sample).counts.ok)]
    assert codes(run) == set()
