"""Who failed: a service that fails in one round of five has failed, whatever the four others say."""

import pytest

from tests.judge.sound import ended, first_load, loads, result_of, sound_run
from touchstone.judge.comparison.across import ComparisonTerms, missing_figures
from touchstone.judge.judge import judge
from touchstone.judge.rules.table import RULES
from touchstone.record.run import Run
from touchstone.record.sample import Failure, Sample

RUST = "rust/std"


def _answer_wrongly(run: Run, rounds: int) -> None:
    for sample in loads(run, RUST)[:rounds]:
        result = result_of(sample)
        ended(result, wrong_body=result.counts.ok // 2)


def test_who_fails_in_one_round_has_failed() -> None:
    run = sound_run()
    _answer_wrongly(run, 1)
    (failed,) = judge(run).failed
    assert failed.contender == RUST
    assert failed.reason.startswith("load, lookup in round 1: ")


def test_a_round_that_the_lab_recorded_wrongly_is_no_failure_of_the_service() -> None:
    run = sound_run()
    result_of(first_load(run)).rate.achieved *= 2
    judged = judge(run)
    assert any(finding.severity == "invalid" for finding in judged.findings)
    assert not judged.failed


def test_figures_of_the_good_rounds_alone_are_gone_for_a_gate() -> None:
    before, after = sound_run(), sound_run()
    _answer_wrongly(after, 1)
    judged = judge(before), judge(after)
    lost = missing_figures(before, after, judged, ComparisonTerms(0.05, 0.95, figures={"throughput": None}))
    assert [(one.contender, one.load, one.figures) for one in lost] == [(RUST, "lookup", ["throughput"])]
    assert not missing_figures(after, after, (judged[1], judged[1]), ComparisonTerms(0.05, 0.95))


def test_failures_are_invalid_findings() -> None:
    own = {rule.code for rule in RULES.values() if rule.own_failure}
    assert {"wrong-bodies", "timeouts", "server-died", "work-not-done"} <= own
    assert not own & {"generator-saturated", "littles-law", "mixed-provenance", "engine-withdraws"}


def test_who_lacks_a_load_of_the_plan_has_failed_unless_the_run_was_interrupted() -> None:
    run = sound_run()
    run.samples = [s for s in run.samples if (s.contender, s.phase) != (RUST, "load")]
    (failed,) = judge(run).failed
    assert failed.reason == "load, lookup: nothing of it was measured"
    run.interrupted = True
    assert not judge(run).failed


def test_who_was_not_loaded_since_another_failed_before_the_rounds_has_not_failed() -> None:
    run = sound_run()
    run.samples = [s for s in run.samples if s.round is None]
    first = next(s for s in run.samples if s.contender == RUST)
    first.failure = Failure(what="go build: exit code 2")
    assert [failed.contender for failed in judge(run).failed] == [RUST]


@pytest.mark.parametrize("phase", ["floor", "hold", "capacity", "profile"])
def test_a_phase_that_was_asked_for_and_has_no_figure_is_no_success(phase: str) -> None:
    run = sound_run()
    run.plan.phases.append(phase)
    went, without = (
        Sample(id=f"{phase}-{n}", phase=phase, scenario="users", contender=n, started_at=run.started_at)
        for n in ("go/plain", RUST)
    )
    without.not_measured = went.not_measured = {phase: "not even 64 MB were enough"}
    run.samples += [without]
    assert (RUST, f"{phase}: not measured: not even 64 MB were enough") in [
        (f.contender, f.reason) for f in judge(run).failed
    ]
    # Where another contender has it, the reason stands in its place in the report.
    went.figures = {"boot_first_response": 1.0}
    run.samples += [went]
    assert not judge(run).failed


def test_who_died_is_told_by_its_death_and_not_by_what_came_of_it() -> None:
    run = sound_run()
    died = loads(run, RUST)[0]
    died.process.server_exit = "exited with code 3"
    result_of(died).counts.ok = 0
    result_of(died).connections.errors.refused = result_of(died).counts.sent
    judged = judge(run)
    codes = [f.code for f in judged.findings if f.sample == died.id and f.severity == "invalid"]
    assert codes[0] == "server-died" and len(codes) > 1
    assert [failed.reason for failed in judged.failed] == [
        "load, lookup in round 1: the server exited before the stop signal: exited with code 3"
    ]


def test_the_reason_of_a_void_load_is_its_own_and_not_the_builds() -> None:
    run = sound_run()
    build = next(s for s in run.samples if s.contender == RUST and s.phase == "build")
    assert build.build is not None
    build.build.prebuilt = ["server"]
    for sample in loads(run, RUST):
        result_of(sample).connections.held = 1
    (failed,) = judge(run).failed
    assert failed.reason == "load, lookup: only 1 of 64 connections stayed open"
