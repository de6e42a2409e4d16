import pytest

from touchstone.judge.judgement import Severity

from ..sound import fired, sound_run


@pytest.mark.parametrize("count,severity", [(1, Severity.SUSPECT), (5, Severity.INVALID)])
def test_starts_that_fail(count: int, severity: Severity) -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    for start in boot.runs[:count]:
        start.failure, start.first_response_s = "timeout", None
    (finding,) = fired(run, "boots-failed")
    assert finding.severity is severity


def test_a_slow_start_is_none_that_failed() -> None:
    run = sound_run()
    boot = next(s.boot for s in run.samples if s.boot)
    boot.runs[0].first_response_s = 10 * (boot.runs[0].first_response_s or 0.0)
    assert not fired(run, "boots-failed")
