from touchstone.judge.judgement import Severity
from touchstone.record.engine import FirstError
from touchstone.record.events import Events
from touchstone.record.run import Run

from ..sound import codes, ended, fired, first_load, result_of, sound_run

CODE = "events-lost"


def streams(**counts: int) -> Run:
    run = sound_run()
    result_of(first_load(run)).events = Events(count=20_000, rate=1_000.0, **counts)
    return run


def test_each_fault_is_named_with_the_first_event() -> None:
    run = streams(lost=2, doubled=1, disordered=3)
    result = result_of(first_load(run))
    ended(result, lost_event=2, doubled_event=1, disordered_event=3)
    why = "1 event is missing: 19 of 20 came before the stream was over; the first missing is 7"
    result.first_errors = [FirstError.model_validate({"class": "lost_event", "why": why})]
    (finding,) = fired(run, CODE)
    assert finding.severity is Severity.INVALID
    assert "2 lost, 1 doubled, 3 out of order" in finding.statement and "the first missing is 7" in finding.statement


def test_faults_within_the_allowance_are_suspect() -> None:
    run = streams(lost=1)
    ended(result_of(first_load(run)), lost_event=1)
    first_load(run).spec.error_allowance = 0.5
    (finding,) = fired(run, CODE)
    assert finding.severity is Severity.SUSPECT


def test_a_whole_stream_and_a_response_that_is_none_are_sound() -> None:
    assert CODE not in codes(streams())
    assert CODE not in codes(sound_run())
