import pytest

from touchstone.judge.judgement import Severity
from touchstone.record.evidence.slices import Slice

from ..slices import put_slices
from ..sound import codes, fired, first_load, result_of, sound_run


def test_a_warm_up_of_which_one_request_in_a_hundred_failed() -> None:
    run = sound_run()
    first = result_of(first_load(run)).series[0]
    first.errors = first.sent // 40
    (finding,) = fired(run, "warm-up-failed")
    assert finding.severity is Severity.SUSPECT
    assert finding.evidence["failed"] == first.errors


def test_a_few_failures_of_the_warm_up_are_a_note() -> None:
    run = sound_run()
    result_of(first_load(run)).series[1].errors = 5
    (finding,) = fired(run, "warm-up-failed")
    assert finding.severity is Severity.NOTE


def test_failures_that_the_load_allows() -> None:
    run = sound_run()
    sample = first_load(run)
    sample.spec.error_allowance = 0.05
    first = result_of(sample).series[0]
    first.errors = first.sent // 40
    assert not fired(run, "warm-up-failed")
    assert codes(run) == set()


def test_connections_that_were_closed_while_they_rested_cost_no_request() -> None:
    run = sound_run()
    sample = first_load(run)
    put_slices(sample, [20_000.0] * 12)
    assert sample.slices is not None
    turn = Slice(
        index=0,
        lap_phase="warmup",
        begin=0,
        sending_end=0.25,
        end=0.25,
        sent=400,
        connection_errors={"closed_idle": 16},
    )
    sample.slices.slices.insert(0, turn)
    assert not fired(run, "warm-up-failed")
    turn.errors["wrong_status"] = 8
    (finding,) = fired(run, "warm-up-failed")
    assert finding.evidence == {"failed": 8, "sent": 400}


@pytest.mark.parametrize(("name", "severity"), [("malformed", Severity.SUSPECT), ("wrong_status", Severity.NOTE)])
def test_responses_that_break_their_connection_weigh_more(name: str, severity: Severity) -> None:
    # Where one worker of several does it, the connections end up at the others, and the window is clean.
    run = sound_run()
    sample = first_load(run)
    put_slices(sample, [20_000.0] * 12)
    assert sample.slices is not None
    turn = Slice(index=0, lap_phase="warmup", begin=0, sending_end=0.25, end=0.25, sent=4000, errors={name: 16})
    sample.slices.slices.insert(0, turn)
    (finding,) = fired(run, "warm-up-failed")
    assert finding.severity is severity
    assert finding.statement.endswith(f"16 {name.replace('_', ' ')}")


def test_closings_that_a_whole_window_cannot_tell_apart_are_not_guessed_at() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.series[0].errors = result.series[0].sent // 2
    result.connections.errors.closed_idle = 3
    result.schema_ = "touchstone.load/1"
    assert not fired(run, "warm-up-failed")


def test_an_engine_that_tells_them_apart_counts_failures_alone() -> None:
    run = sound_run()
    result = result_of(first_load(run))
    result.series[0].errors = result.series[0].sent // 2
    result.connections.errors.closed_idle = 3
    assert fired(run, "warm-up-failed")
