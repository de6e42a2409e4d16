import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.run import Run

from ..sound import fired, loads, result_of, sound_run


def _logging(each: float) -> Run:
    """A run of one contender that writes this many bytes of log per response."""
    run = sound_run(contenders={"go/std": 8_000.0})
    for sample in loads(run, "go/std"):
        sample.process.log = f"logs/go-{sample.round}.log"
        sample.process.log_bytes = 5_000 + int(each * result_of(sample).counts.completed)
    return run


def test_a_service_alone_that_logs_each_request_has_a_note() -> None:
    (finding,) = fired(_logging(80.0), "logs-each-request")
    assert (finding.contender, finding.severity) == ("go/std", Severity.NOTE)
    assert finding.evidence["bytes_per_response"] == pytest.approx(80.0, rel=0.02)


def test_a_line_now_and_then_is_no_access_log() -> None:
    assert not fired(_logging(1.0), "logs-each-request")
