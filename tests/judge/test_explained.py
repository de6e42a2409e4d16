"""A finding that another one on its sample explains names it, gives its next step, and is no graver."""

import pytest

from touchstone.judge.rules.table import RULES, is_cause

from .sound import fired, first_load, result_of, sound_run, watch_of


@pytest.mark.parametrize("throttled", [False, True])
def test_a_quota_of_the_generator_explains_a_rate_near_its_ceiling(throttled: bool) -> None:
    run = sound_run(tare_rate=21_000.0, contenders={"go/std": 20_000.0})
    watch_of(first_load(run)).window.cpu_s = 5.0
    result = result_of(first_load(run))
    if throttled:
        result.generator.threads[0].throttled_s = 0.02 * result.window.measured_s
    (finding,) = fired(run, "near-tare")
    assert finding.statement.endswith("; `generator-throttled` explains it") is throttled
    assert finding.next_step == RULES["generator-throttled" if throttled else "near-tare"].next_step


def test_a_server_that_died_explains_connections_that_broke_and_nothing_on_other_samples() -> None:
    run = sound_run()
    first, *others = [sample for sample in run.samples if sample.phase == "load" and sample.contender == "go/std"]
    first.process.server_exit = "killed by SIGKILL"
    for sample in (first, others[0]):
        result_of(sample).counts.errors.reset = 5
    explained = {f.sample: "`server-died` explains it" in f.statement for f in fired(run, "connections-broken")}
    assert explained == {first.id: True, others[0].id: False}


def test_causes_are_the_rules_that_explain_others() -> None:
    assert {code for code in RULES if is_cause(code)} == {"server-died", "generator-throttled", "connections-wait"}
    assert not is_cause("no-such-rule")
