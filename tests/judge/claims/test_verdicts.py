"""Each verdict, and its grounds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.judge.claims.case import THROUGHPUT, claims, ruled, verdict_on, warm
from tests.judge.sound import ended, sound_run, watch_of
from touchstone.judge.claims.judge import judge_claims
from touchstone.judge.claims.ruling import Ruling
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity
from touchstone.record.run import Run
from touchstone.report.claims.words import interval

GO_TO_KOTLIN: dict[str, Any] = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_least": 3.0}


def failing(run: Run, contender: str) -> Run:
    """The run with a contender half of whose answers are errors."""
    for sample in run.samples:
        if sample.contender == contender and sample.result:
            ended(sample.result, wrong_status=sample.result.counts.sent // 2)
    return run


def test_a_contradiction_that_an_exhibit_reproduces_is_explained() -> None:
    run = warm(sound_run(contenders={"go/std": 20_000.0, "kotlin/jvm": 15_000.0, "kotlin/leak": 5_000.0}))
    exhibit = {"says": "The leak does it.", "test": GO_TO_KOTLIN | {"to": "kotlin/leak"}}
    ruling = verdict_on(GO_TO_KOTLIN, run, explained_by=[exhibit])
    assert ruling.ruling is Ruling.EXPLAINED
    assert ruling.reason == "The leak does it."
    assert ruling.explanations[0].reproduced is True
    assert ruling.measurements[0].ruling is Ruling.CONTRADICTED


def test_an_exhibit_that_does_not_reproduce_it_explains_nothing() -> None:
    run = warm(sound_run(contenders={"go/std": 20_000.0, "kotlin/jvm": 15_000.0, "kotlin/leak": 14_000.0}))
    exhibit = {"says": "The leak does it.", "test": GO_TO_KOTLIN | {"to": "kotlin/leak"}}
    ruling = verdict_on(GO_TO_KOTLIN, run, explained_by=[exhibit])
    assert ruling.ruling is Ruling.CONTRADICTED
    assert ruling.explanations[0].reproduced is False


def test_a_statement_that_holds_needs_no_explanation() -> None:
    run = warm(sound_run(contenders={"go/std": 20_000.0, "kotlin/jvm": 5_000.0, "kotlin/leak": 5_000.0}))
    exhibit = {"says": "The leak does it.", "test": GO_TO_KOTLIN | {"to": "kotlin/leak"}}
    assert verdict_on(GO_TO_KOTLIN, run, explained_by=[exhibit]).ruling is Ruling.HOLDS


def test_an_exhibits_own_errors_disqualify_it_unless_they_are_admitted() -> None:
    contenders = {"go/std": 20_000.0, "kotlin/jvm": 15_000.0, "kotlin/leak": 5_000.0}
    run = failing(warm(sound_run(contenders=contenders)), "kotlin/leak")
    exhibit = {"says": "The leak does it.", "test": GO_TO_KOTLIN | {"to": "kotlin/leak"}}
    refused = verdict_on(GO_TO_KOTLIN, run, explained_by=[exhibit])
    assert refused.ruling is Ruling.CONTRADICTED
    assert refused.explanations[0].reproduced is None
    codes = sorted({f.code for f in judge(run).findings if f.contender == "kotlin/leak" and f.severity != "note"})
    admitted = verdict_on(GO_TO_KOTLIN, run, explained_by=[exhibit | {"admits": codes}])
    assert admitted.ruling is Ruling.EXPLAINED


def test_an_invalid_number_decides_nothing() -> None:
    run = failing(sound_run(), "kotlin/jvm")
    ruling = verdict_on(GO_TO_KOTLIN | {"at_least": 1.0}, run)
    assert ruling.ruling is Ruling.NOT_MEASURED
    assert ruling.reason in {f.statement for f in judge(run).findings if f.severity is Severity.INVALID}
    assert ruling.measurements[0].value is None


def test_a_suspect_number_decides_only_if_it_is_let() -> None:
    run = warm(sound_run(rounds=5))
    for sample in run.samples:
        if sample.contender == "kotlin/jvm" and sample.result:
            sample.result.generator.stands = False
            sample.result.generator.reasons = ["the generator waited for a CPU"]
    claim = THROUGHPUT | {"test": GO_TO_KOTLIN | {"at_least": 1.1}}
    ruling = ruled(claim, run)
    assert ruling.ruling is Ruling.UNDECIDED
    assert "suspect" in ruling.reason
    assert ruling.measurements[0].leaning is Ruling.HOLDS
    let = ruled(claim, run, accept_suspect=True)
    assert let.ruling is Ruling.HOLDS
    assert "suspect" in let.reason


def test_what_the_generator_holds_back_decides_in_the_direction_that_is_known() -> None:
    run = warm(sound_run(rounds=5, tare_rate=20_500.0, contenders={"go/std": 20_000.0, "kotlin/jvm": 15_000.0}))
    for sample in run.samples:
        if sample.contender == "go/std" and sample.result:
            watch_of(sample).window.cpu_s = 5.0
    quicker = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm"}
    at_least = verdict_on(quicker | {"at_least": 1.2}, run)
    assert at_least.ruling is Ruling.HOLDS
    assert interval(at_least.measurements[0]).startswith("at least 1.")
    assert verdict_on(quicker | {"at_most": 1.2}, run).ruling is Ruling.CONTRADICTED
    assert verdict_on(quicker | {"at_most": 2.0}, run).ruling is Ruling.UNDECIDED
    other_way = verdict_on({"kind": "ratio", "of": "kotlin/jvm", "to": "go/std", "at_least": 0.5}, run)
    assert other_way.ruling is Ruling.UNDECIDED
    assert interval(other_way.measurements[0]).startswith("at most 0.")


def test_an_undecided_claim_says_how_many_rounds_would_do() -> None:
    ruling = verdict_on(GO_TO_KOTLIN | {"at_least": 1.4}, warm(sound_run(noise=0.06)))
    assert ruling.ruling is Ruling.UNDECIDED
    assert ruling.more_rounds is not None
    more = warm(sound_run(noise=0.06, rounds=5 + 4 * ruling.more_rounds))
    assert verdict_on(GO_TO_KOTLIN | {"at_least": 1.4}, more).ruling is not Ruling.UNDECIDED


def test_what_no_run_has_is_not_measured_for_the_reason_that_is_known() -> None:
    missing = {"kind": "value", "of": ["kotlin/native"], "at_least": 1.0, "unit": "/s"}
    assert verdict_on(missing).ruling is Ruling.NOT_MEASURED
    assert "no run has throughput of kotlin/native" in verdict_on(missing).reason
    known = ruled(THROUGHPUT | {"test": missing}, obstacle=lambda s, c, load: f"{c} needs native-image")
    assert known.reason == "kotlin/native needs native-image"


def test_a_contender_that_could_not_run_says_why() -> None:
    run = warm(sound_run())
    entry = run.plan.contenders[0].model_copy(update={"name": "kotlin/native", "not_measured": "needs native-image"})
    run.plan.contenders.append(entry)
    ruling = verdict_on({"kind": "value", "of": ["kotlin/native"], "at_least": 1.0, "unit": "/s"}, run)
    assert ruling.ruling is Ruling.NOT_MEASURED
    assert "needs native-image" in ruling.reason


def test_without_runs_nothing_is_measured() -> None:
    ruling = judge_claims(claims(THROUGHPUT | {"test": GO_TO_KOTLIN}), [])
    assert ruling.claims[0].ruling is Ruling.NOT_MEASURED
    assert ruling.measured == 0


def test_what_cannot_be_tested_says_so_and_shows_what_was_measured_beside() -> None:
    reason = {"reason": "It measured errors.", "evidence": ["303,833 of 303,834 answers were errors."]}
    ruling = verdict_on(GO_TO_KOTLIN, not_testable=reason)
    assert ruling.ruling is Ruling.NOT_TESTABLE
    assert ruling.reason == "It measured errors."
    assert ruling.measurements[0].value == pytest.approx(4 / 3, rel=0.05)
    assert ruling.measured


def test_the_newest_run_that_has_all_terms_counts_whatever_it_says() -> None:
    old = warm(sound_run(contenders={"go/std": 60_000.0, "kotlin/jvm": 15_000.0}, tare_rate=200_000.0))
    new = warm(sound_run())
    new.plan.run_id, new.started_at = "20270101-000000", old.started_at + timedelta(days=1)
    half = warm(sound_run(contenders={"go/std": 20_000.0}))
    half.plan.run_id, half.started_at = "20280101-000000", old.started_at + timedelta(days=2)
    ruling = verdict_on(GO_TO_KOTLIN, half, old, new)
    assert ruling.measurements[0].runs == ["20270101-000000"]
    assert ruling.ruling is Ruling.CONTRADICTED


def test_terms_of_different_runs_are_put_together_on_the_same_machine_only() -> None:
    go, kotlin = sound_run(contenders={"go/std": 20_000.0}), warm(sound_run(contenders={"kotlin/jvm": 5_000.0}))
    kotlin.plan.run_id = "20280101-000000"
    ruling = verdict_on(GO_TO_KOTLIN, go, kotlin)
    assert ruling.ruling is Ruling.HOLDS
    assert len(ruling.measurements[0].runs) == 2
    kotlin.environment.cpu_model = "another CPU"
    apart = verdict_on(GO_TO_KOTLIN, go, kotlin)
    assert apart.ruling is Ruling.NOT_MEASURED
    assert "cpu_model" in apart.reason


def test_builds_of_several_runs_give_an_interval() -> None:
    runs = [sound_run(seed=n) for n in range(4)]
    for number, run in enumerate(runs):
        run.plan.run_id, run.started_at = f"2027010{number}-000000", run.started_at + timedelta(days=number)
        for sample in run.samples:
            sample.started_at += timedelta(days=number)
            if "build_cold" in sample.figures:
                sample.figures["build_cold"] *= 1 + number / 100
    claim = {"figure": "build_cold", "test": {"kind": "value", "of": ["go/std"], "at_most": 16.0, "unit": "s"}}
    ruling = ruled(claim, *runs)
    assert ruling.ruling is Ruling.HOLDS
    assert len(ruling.measurements[0].samples) == 4


def test_published_numbers_stand_beside_what_they_are_compared_with() -> None:
    published = [
        {"what": "Go", "value": 30.0, "unit": "ms", "contender": "go/std"},
        {"what": "Kotlin", "value": 0.09, "unit": "s", "contender": "kotlin/jvm"},
        {"what": "ratio", "value": 3.0},
    ]
    both = {"kind": "value", "of": ["go/std", "kotlin/jvm"], "at_most": 1.0, "unit": "s"}
    ruling = ruled({"figure": "latency_p50", "load": "lookup", "test": both, "published": published})
    assert [m.published for m in ruling.measurements] == [pytest.approx(0.03), pytest.approx(0.09)]
    assert verdict_on(GO_TO_KOTLIN, published=published).measurements[0].published == 3.0
