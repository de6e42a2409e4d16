from touchstone.judge.judge import judge
from touchstone.judge.judgement import Verdict

from ..bursts import burst, run_with
from ..capacities import capacity_run, search, with_search
from ..sound import fired


def test_a_death_is_told_and_leaves_the_capacity_valid() -> None:
    found = search(9_000.0)
    found.dies_at, found.death = 21_000.0, "was killed by SIGKILL"
    run = with_search(found, 9_000.0)
    (finding,) = fired(run, "dies-past-knee")
    assert finding.statement == "the service died at 21,000/s: the server was killed by SIGKILL"
    estimate = next(e for e in judge(run).estimates if e.figure == "capacity" and e.contender == "go/std")
    assert estimate.verdict is Verdict.VALID


def test_a_death_in_a_burst_is_told() -> None:
    (finding,) = fired(run_with(burst(0.0, None, "was killed by SIGKILL")), "dies-past-knee")
    assert finding.statement == (
        "the service died in a burst above its capacity of 9,000/s: the server was killed by SIGKILL"
    )
    void = burst(0.0, None, "was killed by SIGKILL")
    void.void = "the generator was short of CPU"
    assert not fired(run_with(void), "dies-past-knee")
    assert not fired(run_with(burst(0.0, None)), "dies-past-knee")


def test_a_server_that_lives_is_none() -> None:
    assert not fired(capacity_run({"go/std": [9_000.0] * 3}), "dies-past-knee")
