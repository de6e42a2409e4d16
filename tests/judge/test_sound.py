import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome, Severity, Verdict

from .sound import sound_run


@pytest.mark.parametrize("seed", range(10))
def test_nothing_fires_on_a_sound_run(seed: int) -> None:
    judgement = judge(sound_run(seed=seed))
    assert [(f.code, f.statement) for f in judgement.findings] == []
    assert judgement.verdict is Verdict.VALID


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rounds,seconds,noise", [(3, 2.0, 0.02), (3, 3.0, 0.03)])
def test_a_quick_sound_run_gets_notes_at_most(seed: int, rounds: int, seconds: float, noise: float) -> None:
    judgement = judge(sound_run(seed=seed, rounds=rounds, seconds=seconds, noise=noise))
    assert [(f.code, f.statement) for f in judgement.findings if f.severity is not Severity.NOTE] == []
    assert judgement.verdict is Verdict.VALID


def test_an_open_loop_at_a_rate_below_capacity_is_sound() -> None:
    assert [(f.code, f.statement) for f in judge(sound_run(offered=2000.0)).findings] == []


def test_differences_are_found_and_named() -> None:
    judgement = judge(sound_run())
    throughput = {c.contender: c for c in judgement.comparisons if c.figure == "throughput"}
    assert throughput["rust/std"].outcome is Outcome.BETTER
    assert throughput["rust/std"].better is True
    assert throughput["kotlin/jvm"].outcome is Outcome.WORSE
    assert "more requests per second" in throughput["rust/std"].sentence


def test_the_same_record_gives_the_same_judgement() -> None:
    run = sound_run(rounds=24)
    assert judge(run) == judge(run)


def test_a_run_of_exhibits_alone_is_judged_by_them() -> None:
    run = sound_run()
    for contender in run.plan.contenders:
        contender.exhibit = "a leak"
    assert judge(run).verdict is Verdict.VALID
