from ..profiles import BASE, evidence, profile_run
from ..sound import fired

REFUSED = evidence(BASE).model_copy(update={"stacks": None, "profiled": None, "not_profiled": "perf may not sample"})


def test_a_contender_without_stacks_says_why() -> None:
    (finding,) = fired(profile_run({"go/std": [REFUSED] * 3}), "profile-missing")
    assert finding.statement == "perf may not sample"


def test_one_round_with_stacks_is_enough() -> None:
    assert not fired(profile_run({"go/std": [REFUSED, evidence(BASE)]}), "profile-missing")
