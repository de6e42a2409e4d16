"""The profiles behind a claim: asked for, measured, and shown."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from tests.judge.claims.case import THROUGHPUT, claims, ruled
from tests.judge.profiles import BASE, SPIN, evidence, profile_run
from touchstone.judge.claims.check import complaints
from touchstone.judge.claims.evidence import Evidence, RunWithJudgement
from touchstone.judge.claims.judge import judge_claims
from touchstone.judge.claims.wanted import missing, steps
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.report.claims.pages import render_claims
from touchstone.report.claims.terminal import explain_claim
from touchstone.report.claims.view import RuledFile

FASTER = THROUGHPUT | {"why": True, "test": {"kind": "ratio", "of": "rust/std", "to": "go/std", "at_least": 1.2}}


def profiled() -> Run:
    spinning = [*BASE, (SPIN, 4.0)]
    return profile_run({"go/std": [evidence(BASE)] * 4, "rust/std": [evidence(spinning)] * 4})


def test_a_profile_of_both_is_a_step_of_its_own() -> None:
    run = profiled()
    found = steps(missing([claims(FASTER)], Evidence([])))
    assert [(one.name, one.phases) for one in found] == [
        ("users lookup", ("load",)),
        ("users lookup profile", ("profile",)),
    ]
    still = steps(missing([claims(FASTER)], Evidence([RunWithJudgement(run, judge(run))])))
    assert [one.name for one in still] == ["users lookup"]


def test_the_cause_is_of_the_contender_against_the_other() -> None:
    told = ruled(FASTER, profiled()).cause
    assert told is not None
    assert (told.contender, told.baseline) == ("rust/std", "go/std")
    assert told.total.difference == pytest.approx(4e-6)
    assert ruled(FASTER | {"why": False}, profiled()).cause is None


def test_page_and_terminal_show_the_parts(tmp_path: Any) -> None:
    run = profiled()
    file, judged = claims(FASTER), [RunWithJudgement(run, judge(run))]
    whole = RuledFile(file, judge_claims(file, judged), tuple(judged))
    page = render_claims([whole], tmp_path)[1].read_text()
    assert "+4.0" in page
    assert 'class="fall"' in page
    console = Console(width=140, record=True)
    explain_claim(console, whole, file.claims[0])
    assert "Where the difference is" in console.export_text()


@pytest.mark.parametrize(
    "test",
    [
        {"kind": "value", "of": ["go/std"], "at_least": 1.0, "unit": "/s"},
        {"kind": "ratio", "of": {"contender": "go/std", "load": "insert"}, "to": "rust/std", "at_least": 1.0},
    ],
    ids=["one contender", "two loads"],
)
def test_what_cannot_be_profiled_together_is_refused(test: dict[str, Any]) -> None:
    (said,) = complaints(claims(FASTER | {"test": test}))
    assert "claims[M1].why" in said
