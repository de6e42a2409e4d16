from touchstone.judge.judge import judge
from touchstone.judge.judgement import Verdict
from touchstone.record.sample import Failure

from ..sound import fired, sound_run


def test_a_build_that_fails() -> None:
    run = sound_run()
    run.samples[0].failure = Failure(what="go build: exit code 2", where="stack go")
    run.samples[0].figures = {}
    (finding,) = fired(run, "phase-failed")
    assert finding.statement == "stack go: go build: exit code 2"
    assert judge(run).sample_verdicts[run.samples[0].id] is Verdict.INVALID


def test_what_to_do_is_what_the_failure_says_itself() -> None:
    run = sound_run()
    run.samples[0].failure = Failure(what="the server listens on port 8099", fix="take the port from PORT")
    assert fired(run, "phase-failed")[0].next_step == "Take the port from PORT."


def test_a_figure_that_was_not_measured_is_no_failure() -> None:
    run = sound_run()
    run.samples[0].not_measured = {"build_warm": "a native image is built whole each time"}
    assert not fired(run, "phase-failed")
