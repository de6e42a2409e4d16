from ..profiles import BASE, evidence, profile_run
from ..sound import fired

STRANGE = ["app", "a_function_of_nobody"]


def test_frames_that_no_table_has_are_named() -> None:
    run = profile_run({"go/std": [evidence([*BASE, (STRANGE, 2.0)])] * 3})
    (finding,) = fired(run, "profile-unmatched")
    assert "a_function_of_nobody" in finding.statement


def test_a_little_of_them_is_not_worth_a_word() -> None:
    assert not fired(profile_run({"go/std": [evidence([*BASE, (STRANGE, 1.0)])] * 3}), "profile-unmatched")
