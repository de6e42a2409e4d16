"""The contract in reports: its checks are counted as the terminal counts them, and whatever broke one is named."""

from __future__ import annotations

import pytest

from tests.report.fixture import make_judgement, make_run
from touchstone.judge.judge import judge
from touchstone.record.run import Run
from touchstone.record.sample import CheckOutcome, ProofOutcome
from touchstone.report.answer import answer
from touchstone.report.contract import Contract
from touchstone.report.sections.contract import build
from touchstone.report.view import View


def _contract(run: Run, contender: str) -> Contract:
    (section,) = build(View(run, make_judgement(run)))
    contracts: list[Contract] = section.data["contracts"]
    return next(one for one in contracts if one.contender == contender)


@pytest.fixture
def run() -> Run:
    """A run in which a check is repeated after each load, and each load has a proof."""
    made = make_run()
    for sample in made.samples:
        if sample.phase == "load":
            sample.checks = [CheckOutcome(id="repeated", says="a light check", passed=True)]
            sample.proofs = [ProofOutcome(says="rows", query="select 1", expected=1, found=1, passed=True)]
    return made


def test_repeats_of_a_check_are_not_counted(run: Run) -> None:
    (verified,) = [s for s in run.samples if s.phase == "verify" and s.contender == "rust/plain"]
    kept = _contract(run, "rust/plain")
    assert kept.checks == len(verified.checks)
    assert kept.proofs == sum(len(s.proofs) for s in run.samples if s.contender == "rust/plain") > 0
    assert not kept.broken


def test_a_check_that_broke_in_a_repeat_alone_is_named_once(run: Run) -> None:
    for sample in run.samples:
        if sample.contender == "rust/plain" and sample.phase == "load":
            sample.checks[0].passed = False
    assert [check.id for check in _contract(run, "rust/plain").broken] == ["repeated"]


def test_a_run_without_a_load_answers_who_holds_the_contract(run: Run) -> None:
    run.samples = [sample for sample in run.samples if sample.phase in ("build", "verify")]
    said = answer(View(run, judge(run)))
    (verified,) = [s for s in run.samples if s.phase == "verify" and s.contender == "rust/plain"]
    assert f"rust/plain keeps its contract: {len(verified.checks)} check" in "\n".join(said)
    verified.checks[0].passed = False
    assert "rust/plain keeps its contract" not in "\n".join(answer(View(run, judge(run))))
