"""What is said of two revisions, from one run, and how it is reported."""

from __future__ import annotations

import io
from xml.etree import ElementTree as Xml

import pytest
from rich.console import Console

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import PairStatus
from touchstone.judge.comparison.pair import PairJudgement, Revision, judge_pair
from touchstone.judge.judge import judge
from touchstone.judge.judgement import FailedContender, Finding, Judgement, Outcome, Severity
from touchstone.judge.why.explain import explain
from touchstone.record.run import Run
from touchstone.record.sample import CheckOutcome, Exchange, Failure
from touchstone.report.annotations import annotation_lines
from touchstone.report.junit import document as junit
from touchstone.report.pair import print_pair
from touchstone.report.pair_markdown import MOST_BYTES
from touchstone.report.pair_markdown import revisions_document as markdown
from touchstone.report.view import View

from .profiles import BASE, SPIN, evidence, profile_run
from .sound import sound_run

PAIR = (Revision(name="main", commit="1" * 40, subject="Old | one"), Revision(name="HEAD", commit="2" * 40))
SIDES = ("base/plain", PAIR[0]), ("head/plain", PAIR[1])


def pair(ratio: float, margin: float = 0.05, *, noise: float = 0.002, rounds: int = 7) -> tuple[Run, Judgement]:
    contenders = {"base/plain": 20_000.0, "head/plain": 20_000.0 * ratio}
    run = sound_run(contenders=contenders, rounds=rounds, noise=noise, seed=3)
    run.plan.baseline = "base"
    return run, judge(run, margin)


def said(ratio: float, margin: float = 0.05, *, noise: float = 0.002, rounds: int = 7) -> PairJudgement:
    run, judgement = pair(ratio, margin, noise=noise, rounds=rounds)
    terms = ComparisonTerms(margin=margin, confidence=0.95, figures={"throughput": None})
    return judge_pair(run, judgement, SIDES, terms, "sound/plain")


@pytest.mark.parametrize(
    ("ratio", "standing", "outcome"),
    [
        (0.8, PairStatus.WORSE, Outcome.WORSE),
        (1.25, PairStatus.PASSED, Outcome.BETTER),
        (1.0, PairStatus.PASSED, Outcome.EQUIVALENT),
        (0.97, PairStatus.PASSED, Outcome.EQUIVALENT),
    ],
)
def test_a_real_loss_fails_and_nothing_else(ratio: float, standing: PairStatus, outcome: Outcome) -> None:
    found = said(ratio)
    assert found.standing is standing
    (change,) = found.changes
    assert change.outcome is outcome
    assert (change.contender, change.figure) == ("sound/plain", "throughput")


def test_the_terminal_says_what_was_found_next_to_the_verdict() -> None:
    run, judgement = pair(0.8)
    told = io.StringIO()
    terms = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": None})
    found = judge_pair(run, judgement, SIDES, terms, "sound/plain")
    judgement.findings = [
        Finding(
            code="waits-for-acknowledgement",
            severity=Severity.NOTE,
            statement="86 % of the responses wait for an acknowledgement",
            next_step="Set TCP_NODELAY.",
            contender="head/plain",
            load="lookup",
        )
    ]
    print_pair(Console(file=told, width=160), found, terms, View(run, judgement))
    page = told.getvalue()
    assert "86 % of the responses wait" in page and "Set TCP_NODELAY." in page
    assert page.rstrip().endswith("worse: something has really become worse")
    told.truncate(0)
    judgement.findings = []
    print_pair(Console(file=told, width=160), found, terms, View(run, judgement))
    assert "findings" not in told.getvalue().lower()


def test_noise_leaves_it_undecided() -> None:
    assert said(1.0, noise=0.1, rounds=3).standing is PairStatus.UNDECIDED


def test_a_figures_own_margin_decides_it() -> None:
    run, judgement = pair(0.9)
    wide = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": 0.2})
    assert judge_pair(run, judgement, SIDES, wide, "sound/plain").standing is PairStatus.PASSED


def test_a_head_that_failed_is_invalid_and_a_figure_that_it_lacks_is_gone() -> None:
    run, _ = pair(1.0)
    for sample in run.samples:
        if sample.contender == "head/plain":
            sample.figures.pop("latency_p50", None)
    terms = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": None, "latency_p50": None})
    found = judge_pair(run, judge(run), SIDES, terms, "sound/plain")
    assert [figure for one in found.gone for figure in one.figures] == ["latency_p50"]
    assert found.standing is PairStatus.WORSE
    run.samples = [sample for sample in run.samples if sample.contender != "head/plain"]
    assert judge_pair(run, judge(run), SIDES, terms, "sound/plain").standing is PairStatus.INVALID


def test_why_a_head_failed_is_shown_where_nobody_has_its_log() -> None:
    run, _ = pair(1.0)
    failed = next(sample for sample in run.samples if sample.contender == "head/plain")
    failed.failure = Failure(what="build command ended with code 1", tail=["main.go:12: syntax error"])
    judgement = judge(run)
    found = judge_pair(run, judgement, SIDES, ComparisonTerms(margin=0.05, confidence=0.95, figures={}), "sound/plain")
    told = next(line for line in annotation_lines(found, View(run, judgement)) if line.startswith("::error "))
    error = Xml.fromstring(junit(found)).find(".//error")
    assert error is not None
    for text in (told, error.text or "", markdown(found, View(run, judgement))):
        assert "main.go:12: syntax error" in text
    failed.failure, failed.phase = None, "verify"
    exchange = Exchange(request="GET /a", expected="200", received="status 500")
    failed.checks = [CheckOutcome(id="a", says="a is given", passed=False, broken=[exchange])]
    (broken,) = judge(run).failed
    assert broken.details == ["GET /a: expected 200", "received status 500"]


def test_a_run_of_the_same_sources_passes_unless_it_failed() -> None:
    run, _ = pair(1.0)
    run.samples = []
    run.plan.loads, run.plan.phases = [], ["verify"]
    terms = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": None})
    judgement = judge(run)
    judgement.failed = []
    found = judge_pair(run, judgement, SIDES, terms, "sound/plain", same_sources=True)
    assert found.standing is PairStatus.PASSED
    assert "neither was loaded" in markdown(found, View(run, judgement))
    assert Xml.fromstring(junit(found))[0].get("tests") == "1"
    judgement.failed = [FailedContender(contender="head/plain", reason="it broke")]
    broken = judge_pair(run, judgement, SIDES, terms, "sound/plain", same_sources=True)
    assert broken.standing is PairStatus.INVALID


def test_junit_counts_what_is_worse() -> None:
    suite = Xml.fromstring(junit(said(0.8)))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert Xml.fromstring(junit(said(1.0)))[0].get("failures") == "0"
    undecided = said(1.0, noise=0.1, rounds=3)
    assert Xml.fromstring(junit(undecided))[0].get("failures") == "1"
    allowed = Xml.fromstring(junit(undecided, allow_undecided=True))[0]
    assert (allowed.get("failures"), allowed.get("skipped")) == ("0", "1")


def test_the_summary_stays_below_what_a_comment_may_have() -> None:
    run, judgement = pair(0.8)
    judgement.findings = [
        Finding(code=f"c{n}", severity=Severity.NOTE, statement="ä" * 200, next_step="look") for n in range(2000)
    ]
    text = markdown(said(0.8), View(run, judgement))
    assert len(text.encode()) < MOST_BYTES < 65_536
    assert text.startswith("### touchstone: worse")
    assert "Old \\| one" in text and "more findings" in text and text.rstrip().endswith("</details>")


def test_a_verdict_that_does_not_block_fails_no_test_case_and_makes_no_error() -> None:
    run, judgement = pair(0.8)
    found = said(0.8)
    suite = Xml.fromstring(junit(found, blocks=False))[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert "worse: " in str(suite.findall("testcase/skipped")[0].get("message"))
    blocking = list(annotation_lines(found, View(run, judgement)))
    advisory = list(annotation_lines(found, View(run, judgement), blocks=False))
    assert [line for line in blocking if line.startswith("::error ")]
    assert not [line for line in advisory if line.startswith("::error ")]
    assert {line.partition("title=")[2] for line in advisory} == {line.partition("title=")[2] for line in blocking}


def test_annotations_are_single_lines_with_their_signs_escaped() -> None:
    run, judgement = pair(0.8)
    lines = list(annotation_lines(said(0.8), View(run, judgement)))
    (error,) = [line for line in lines if line.startswith("::error ")]
    assert error.startswith("::error title=touchstone%3A Throughput is worse::sound/plain")
    assert "%25" in error and "\n" not in error


def test_annotations_tell_findings_about_what_was_asked() -> None:
    run, judgement = pair(0.8)
    judgement.findings = [
        Finding(code=f"of-{name}", severity=Severity.SUSPECT, statement="s", next_step="n", figures=figures)
        for name, figures in (("all", None), ("load", ["throughput", "latency_p50"]), ("build", ["build_cold"]))
    ]
    warnings = [line for line in annotation_lines(said(0.8), View(run, judgement)) if line.startswith("::warning ")]
    assert [line.partition("touchstone%3A ")[2].partition("::")[0] for line in warnings] == ["of-all", "of-load"]


def test_the_summary_holds_what_the_profiles_explain_and_stays_short_enough() -> None:
    run, judgement = pair(0.8)
    found = said(0.8)
    assert "Why" not in markdown(found, View(run, judgement))
    profiled = profile_run(
        {"base/plain": [evidence(BASE)] * 3, "head/plain": [evidence([*BASE, (SPIN, 4.0)]) for _ in range(3)]}
    )
    found.why = [explain(profiled, "base/plain", "head/plain", "lookup", 0.95)] * 40
    text = markdown(found, View(run, judgement))
    assert "<summary>Why: CPU per request in parts</summary>" in text
    assert SPIN[-1] in text
    assert len(text.encode()) < MOST_BYTES


def test_a_document_of_an_earlier_version_is_read() -> None:
    found = said(0.8).model_dump(mode="json", by_alias=True)
    (change,) = found["changes"]
    earlier = {name: value for name, value in change.items() if name != "baseline"} | {"outcome": "slower"}
    read = PairJudgement.model_validate(found | {"schema": "touchstone.revisions/1", "changes": [earlier]})
    assert read.changes[0].outcome is Outcome.WORSE
    assert read.changes[0].baseline == "sound/plain"


def test_a_change_has_no_sentence_of_the_run_and_no_rounds_that_it_does_not_need() -> None:
    (change,) = said(0.8, margin=0.5).changes
    assert change.outcome is Outcome.EQUIVALENT
    assert (change.sentence, change.more_rounds) == ("", None)
