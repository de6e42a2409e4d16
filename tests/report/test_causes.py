from __future__ import annotations

from tests.report.fixture import EXHIBIT
from touchstone.judge.judgement import Finding, Judgement, PossibleBias, Severity
from touchstone.record.run import Run
from touchstone.report.answer import answer
from touchstone.report.causes import FindingCause
from touchstone.report.view import View


def _finding(code: str, contender: str, *, doubt: PossibleBias | None = None, sample: str | None = None) -> Finding:
    return Finding(
        code=code,
        severity=Severity.SUSPECT,
        statement=f"{code} of {contender}",
        next_step=f"end {code}",
        contender=contender,
        load="lookup",
        sample=sample,
        doubt=doubt,
    )


def _causes(run: Run, judgement: Judgement, *findings: Finding) -> list[FindingCause]:
    return View(run, judgement.model_copy(update={"findings": list(findings)})).causes


def test_a_cause_is_told_once_with_all_that_it_concerns(run: Run, judgement: Judgement) -> None:
    samples = [s.id for s in run.samples if s.load == "lookup" and s.contender == "go/plain"][:2]
    findings = [_finding("noise", "go/plain", sample=sample) for sample in samples]
    found = _causes(run, judgement, *findings, _finding("noise", "rust/plain"))
    assert [cause.place for cause in found] == ["go/plain, rust/plain · lookup · 2 samples"]
    assert found[0].next_steps == ["end noise"]


def test_what_was_found_of_the_whole_run_stands_apart(run: Run, judgement: Judgement) -> None:
    whole = _finding("noise", "all").model_copy(update={"contender": None, "load": None})
    found = _causes(run, judgement, _finding("noise", "rust/plain"), whole)
    assert sorted((cause.who, cause.statement) for cause in found) == [
        ("rust/plain", "noise of rust/plain"),
        ("the run", "noise of all"),
    ]


def test_the_larger_doubt_comes_first_and_one_without_bound_before_it(run: Run, judgement: Judgement) -> None:
    found = _causes(
        run,
        judgement,
        _finding("a-small", "go/plain", doubt=PossibleBias(faster=1.1)),
        _finding("b-large", "go/plain", doubt=PossibleBias(slower=1.9)),
        _finding("c-unknown", "go/plain", doubt=PossibleBias(faster=None)),
    )
    assert [cause.code for cause in found] == ["c-unknown", "b-large", "a-small"]


def test_what_is_wrong_on_purpose_stands_after_what_is_not(run: Run, judgement: Judgement) -> None:
    void = _finding("void", EXHIBIT).model_copy(update={"severity": Severity.INVALID})
    found = _causes(run, judgement, void, _finding("zeal", "go/plain"))
    assert [cause.code for cause in found] == ["zeal", "void"]


def test_many_contenders_are_counted(run: Run, judgement: Judgement) -> None:
    found = _causes(run, judgement, *[_finding("noise", f"stack{number}/plain") for number in range(7)])
    assert found[0].who == "stack0/plain, stack1/plain, stack2/plain and 4 more"


def test_of_what_failed_each_reason_is_told(run: Run, judgement: Judgement) -> None:
    failed = [_finding("phase-failed", f"{name}/plain") for name in ("go", "rust")]
    found = _causes(run, judgement, *failed)
    assert [(cause.who, cause.statement) for cause in found] == [
        ("go/plain", "phase-failed of go/plain"),
        ("rust/plain", "phase-failed of rust/plain"),
    ]


def test_what_explains_the_others_stands_before_them(run: Run, judgement: Judgement) -> None:
    found = _causes(run, judgement, _finding("connections-not-held", "go/plain"), _finding("server-died", "go/plain"))
    assert [cause.code for cause in found] == ["server-died", "connections-not-held"]


def test_a_doubt_about_builds_bears_on_no_figure_of_the_summary(run: Run, judgement: Judgement) -> None:
    build = _finding("build-disturbed", "go/plain").model_copy(update={"figures": ["build_cold"]})
    load = _finding("other-processes", "go/plain", doubt=PossibleBias(faster=1.1))
    assert {cause.code: cause.scored for cause in _causes(run, judgement, build, load)} == {
        "build-disturbed": False,
        "other-processes": True,
    }
    told = answer(View(run, judgement.model_copy(update={"findings": [build, load]})))
    assert told[-1] == "Biggest caveat (go/plain): other-processes of go/plain."
