from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run


def test_a_queue_that_was_thrown_away() -> None:
    run = sound_run(offered=1000.0)
    counts = result_of(first_load(run)).counts
    counts.unanswered = counts.failed = 3000
    counts.ok = counts.sent - 3000
    (finding,) = fired(run, "requests-unanswered")
    assert finding.severity is Severity.INVALID


def test_requests_under_way_at_the_end_are_none() -> None:
    run = sound_run(offered=1000.0)
    counts = result_of(first_load(run)).counts
    counts.unanswered = counts.failed = 20
    counts.ok = counts.sent - 20
    assert not fired(run, "requests-unanswered")
