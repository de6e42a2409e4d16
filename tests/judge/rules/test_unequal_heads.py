import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import codes, ended, fired, loads, result_of, sound_run


def _send_more(run: Run, each: int) -> None:
    for sample in loads(run, "rust/std"):
        result = result_of(sample)
        result.bytes.received += each * result.counts.completed


@pytest.mark.parametrize(("more", "severity"), [(200, Severity.NOTE), (2000, Severity.SUSPECT)])
def test_a_contender_that_sends_further_fields(more: int, severity: Severity) -> None:
    run = sound_run()
    _send_more(run, more)
    (finding,) = fired(run, "unequal-heads")
    assert finding.severity is severity
    assert "rust/std" in finding.statement


def test_a_few_fields_of_a_framework() -> None:
    run = sound_run()
    _send_more(run, 100)
    assert codes(run) == set()


def test_rounds_that_failed_are_left_out() -> None:
    run = sound_run()
    for sample in loads(run, "rust/std")[:1]:
        result = result_of(sample)
        result.bytes.received += 5000 * result.counts.completed
        ended(result, malformed=result.counts.completed)
    assert not fired(run, "unequal-heads")
