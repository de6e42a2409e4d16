from typing import Any

from touchstone.judge.judgement import Severity
from touchstone.record.evidence.hold import HoldEvidence
from touchstone.record.run import Run

from ..sound import fired, first_load, sound_run


def held(**level: Any) -> Run:
    run = sound_run()
    sample = first_load(run)
    sample.phase, sample.result, sample.figures = "hold", None, {}
    usual = {"connections": 1000, "held": 1000, "failed": {}, "lost": {}, "idle": {"server": {"rss": 5_000_000}}}
    sample.hold = HoldEvidence.model_validate({"raw": [usual, usual | level]})
    return run


def test_all_held_and_answered() -> None:
    assert not fired(held(traffic={"requests": 900, "ok": 900}), "held-requests-failed")


def test_lost_ones() -> None:
    (finding,) = fired(held(lost={"closed_by_server": 40}, evidence="closed after 1 s"), "held-requests-failed")
    assert finding.severity is Severity.INVALID
    assert "closed after 1 s" in finding.statement


def test_few_are_suspect() -> None:
    (finding,) = fired(held(failed={"wrong_response": 3}), "held-requests-failed")
    assert finding.severity is Severity.SUSPECT


def test_wrong_answers_under_traffic() -> None:
    (finding,) = fired(held(traffic={"requests": 900, "ok": 800}), "held-requests-failed")
    assert "100" in finding.statement


def test_a_level_that_the_lab_refused_is_none() -> None:
    assert not fired(held(idle=None, failed={"too_many_files": 5}), "held-requests-failed")


def test_a_close_at_rest_is_the_right_of_a_server() -> None:
    rests = {"count": 400, "responses_least": 1, "responses_most": 1, "rested_least_s": 5.0, "rested_most_s": 5.1}
    run = held(closed={"idle": rests})
    assert not fired(run, "held-requests-failed")
    (finding,) = fired(run, "held-connections-closed")
    assert finding.severity is Severity.SUSPECT
    assert "closed 400 that were held; it closes a connection that rests for 5 s" in finding.statement
    assert "uvicorn" in str(finding.next_step)


def test_a_level_whose_connections_were_gone_when_memory_was_read_is_invalid() -> None:
    rests = {"count": 400, "rested_least_s": 5.0}
    (finding,) = fired(held(held=600, closed={"idle": rests}), "held-connections-closed")
    assert finding.severity is Severity.INVALID


def test_a_few_closes_are_a_note() -> None:
    (finding,) = fired(held(closed={"notified": {"count": 3, "status": {"408": 3}}}), "held-connections-closed")
    assert finding.severity is Severity.NOTE


def test_none_closed_is_none() -> None:
    assert not fired(held(), "held-connections-closed")
