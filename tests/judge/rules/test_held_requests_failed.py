from typing import Any

from touchstone.judge.judgement import Severity
from touchstone.record.evidence.hold import HoldEvidence
from touchstone.record.run import Run

from ..sound import fired, first_load, sound_run


def held(**level: Any) -> Run:
    run = sound_run()
    sample = first_load(run)
    sample.phase, sample.figures = "hold", {}
    usual = {"connections": 1000, "held": 1000, "failed": {}, "lost": {}, "idle": {"server": {"rss": 5_000_000}}}
    sample.evidence = HoldEvidence.model_validate({"raw": [usual, usual | level]})
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
