from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run


def test_resets_are_invalid() -> None:
    run = sound_run()
    result_of(first_load(run)).counts.errors.reset = 12
    (finding,) = fired(run, "connections-broken")
    assert finding.severity is Severity.INVALID
    assert "12 reset" in finding.statement


def test_allowed_resets_are_suspect() -> None:
    run = sound_run()
    first_load(run).load_spec["error_allowance"] = 0.5
    result_of(first_load(run)).counts.errors.closed_mid_response = 12
    (finding,) = fired(run, "connections-broken")
    assert finding.severity is Severity.SUSPECT


def test_a_connection_closed_while_idle_cost_no_request() -> None:
    run = sound_run()
    result_of(first_load(run)).counts.errors.closed_idle = 12
    assert not fired(run, "connections-broken")
