"""A gate that calls its base different from a copy of itself says nothing of the head."""

from __future__ import annotations

import io
from xml.etree import ElementTree as Xml

import pytest
from rich.console import Console

from touchstone.judge.comparison.across import ComparisonTerms
from touchstone.judge.comparison.gate import GatePolicy, PairStatus
from touchstone.judge.comparison.pair import PairJudgement, judge_pair
from touchstone.judge.comparison.twin import TwinCount
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome
from touchstone.record.run import Run
from touchstone.report.annotations import annotation_lines
from touchstone.report.junit import document as junit
from touchstone.report.pair import gain_lines, policy_words, print_pair, twin_lines
from touchstone.report.pair_markdown import revisions_document as markdown
from touchstone.report.view import View

from .slices import sliced_run
from .test_revisions import SIDES

TERMS = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": None})
RATE = 20_000.0


def run_with_twin(head: float = 1.0, twin: float = 1.0, *, twin_rounds: tuple[int, ...] = (1, 2, 4)) -> Run:
    rates = {"base/plain": RATE, "head/plain": RATE * head, "twin/plain": RATE * twin}
    run = sliced_run(rates, rounds=5, noise=0.004)
    run.plan.baseline, run.plan.twin = "base", "twin/plain"
    absent = set(range(1, 6)) - set(twin_rounds)
    run.samples = [s for s in run.samples if s.contender != "twin/plain" or s.round not in absent]
    return run


def judged_pair(run: Run, terms: ComparisonTerms = TERMS) -> PairJudgement:
    return judge_pair(run, judge(run, terms.margin), SIDES, terms, "sound/plain")


@pytest.mark.parametrize(
    ("head", "standing"), [(1.0, PairStatus.PASSED), (0.8, PairStatus.WORSE), (1.25, PairStatus.PASSED)]
)
def test_an_equal_twin_leaves_the_verdict_as_it_is(head: float, standing: PairStatus) -> None:
    found = judged_pair(run_with_twin(head))
    assert found.standing is standing
    assert found.twin is not None and found.twin.rounds == 3 and not found.twin.different
    (change,) = found.twin.changes
    assert change.outcome is Outcome.EQUIVALENT


@pytest.mark.parametrize("twin", [0.8, 1.2])
@pytest.mark.parametrize("head", [1.0, 0.8, 1.25])
def test_a_twin_that_differs_leaves_no_verdict(head: float, twin: float) -> None:
    run = run_with_twin(head, twin)
    found = judged_pair(run)
    assert found.standing is PairStatus.UNRELIABLE
    assert (found.changes, found.gone) == ([], [])
    assert found.twin is not None and [one.figure for one in found.twin.different] == ["throughput"]
    reasons = "\n".join(found.twin.could_explain)
    for word in ("3 rounds, all on one side", "first to start", "order in laps", "port"):
        assert word in reasons
    view, told = View(run, judge(run)), io.StringIO()
    print_pair(Console(file=told, width=200), found, TERMS, view)
    errors = [line for line in annotation_lines(found, view) if line.startswith("::error")]
    for text in (told.getvalue(), markdown(found, view), "".join(errors), junit(found)):
        assert "copy" in text
        assert "worse" not in text and "gate passed" not in text
    assert Xml.fromstring(junit(found))[0].get("errors") == "1"


def test_the_luck_of_processes_is_told_from_a_steady_difference() -> None:
    run = run_with_twin(twin=1.1)
    run.plan.confidence = 0.5
    (odd,) = [s for s in run.samples if (s.contender, s.round, s.phase) == ("twin/plain", 1, "load")]
    assert odd.slices is not None
    for one in odd.slices.slices:
        one.rate = one.rate / 1.12 if one.rate else None
    found = judged_pair(run)
    assert found.twin is not None and found.twin.different
    assert any(reason.startswith("layout: throughput: from 0.98") for reason in found.twin.could_explain)


def test_the_twin_widens_no_interval_of_the_head() -> None:
    """It is not a rival: with it the head's interval is the one that two contenders have."""
    run = run_with_twin(0.97)
    (with_twin,) = judged_pair(run).changes
    run.samples = [s for s in run.samples if s.contender != "twin/plain"]
    run.plan.contenders = [c for c in run.plan.contenders if c.name != "twin/plain"]
    run.plan.twin = None
    (without,) = judged_pair(run).changes
    assert (with_twin.low, with_twin.high) == (without.low, without.high)


def test_rounds_without_the_twin_are_no_finding_and_no_failure() -> None:
    run = run_with_twin(twin_rounds=(1, 2))
    judgement = judge(run)
    assert not judgement.failed
    codes = {f.code for f in judgement.findings if f.contender == "twin/plain"}
    assert not codes & {"rounds-incomplete", "too-few-rounds", "contract-not-checked"}


def test_a_twin_falls_with_its_base_and_is_named_only_by_itself() -> None:
    run = run_with_twin()
    run.samples = [s for s in run.samples if s.contender not in ("base/plain", "twin/plain")]
    assert [one.contender for one in judge(run).failed] == ["base/plain"]


def test_the_count_says_what_it_bounds() -> None:
    found = judged_pair(run_with_twin())
    assert found.twin is not None
    found.twin.counted = TwinCount(gates=212, different=0)
    assert any(
        "0 of 212 gates called a copy of the base different at 5 %: at most 1.4 %" in t for t in twin_lines(found)
    )
    of_its_own = ComparisonTerms(margin=0.05, confidence=0.95, figures={"throughput": 0.1})
    wider = judged_pair(run_with_twin(), of_its_own)
    assert wider.twin is not None
    wider.twin.counted = found.twin.counted
    assert any("different at 10 %: at most" in line for line in twin_lines(wider))
    again = PairJudgement.model_validate_json(found.model_dump_json(by_alias=True))
    assert again.twin is not None and again.twin.counted == found.twin.counted


@pytest.mark.parametrize(
    ("policy", "gates", "different", "blocks"),
    [
        (GatePolicy.REQUIRED, 0, 0, True),
        (GatePolicy.ADVISORY, 1000, 0, False),
        (GatePolicy.AUTO, 0, 0, False),
        (GatePolicy.AUTO, 298, 0, False),
        (GatePolicy.AUTO, 299, 0, True),
        (GatePolicy.AUTO, 473, 1, True),
        (GatePolicy.AUTO, 472, 1, False),
        (GatePolicy.AUTO, 300, 3, False),
    ],
)
def test_a_gate_blocks_once_its_machine_has_shown_that_false_alarms_are_rare(
    policy: GatePolicy, gates: int, different: int, blocks: bool
) -> None:
    found = judged_pair(run_with_twin(0.8))
    assert found.twin is not None and found.standing is PairStatus.WORSE
    found.twin.counted = TwinCount(gates=gates, different=different) if gates else None
    words = policy_words(found, policy)
    assert (words is None) is blocks
    assert blocks or "the verdict is worse" in (words or "")


@pytest.mark.parametrize("standing", [PairStatus.PASSED, PairStatus.INVALID])
def test_a_policy_has_nothing_to_say_of_a_pass_or_of_a_broken_contract(standing: PairStatus) -> None:
    found = judged_pair(run_with_twin()).model_copy(update={"standing": standing})
    assert policy_words(found, GatePolicy.ADVISORY) is None


@pytest.mark.parametrize(("head", "explained"), [(1.0, 0), (1.1, 0), (1.17, 0), (1.23, 1), (2.0, 1), (0.7, 0)])
def test_a_large_improvement_asks_for_an_explanation(head: float, explained: int) -> None:
    run = run_with_twin(head)
    found, view = judged_pair(run), View(run, judge(run))
    assert len(list(gain_lines(found))) == explained
    assert markdown(found, view).count("explain this improvement") == explained
    warnings = [line for line in annotation_lines(found, view) if "explain the improvement of" in line]
    assert len(warnings) == explained
