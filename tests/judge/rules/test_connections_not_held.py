import pytest

from touchstone.judge.judgement import Severity

from ..sound import fired, first_load, result_of, sound_run


@pytest.mark.parametrize("held,severity", [(60, Severity.SUSPECT), (32, Severity.INVALID)])
def test_missing_connections(held: int, severity: Severity) -> None:
    run = sound_run()
    result_of(first_load(run)).connections.held = held
    (finding,) = fired(run, "connections-not-held")
    assert finding.severity is severity


def test_one_between_closing_and_opening() -> None:
    run = sound_run()
    result_of(first_load(run)).connections.held = 63
    assert not fired(run, "connections-not-held")
