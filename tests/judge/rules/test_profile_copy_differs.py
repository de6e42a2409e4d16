from ..profiles import BASE, evidence, profile_run
from ..sound import fired

TOTAL = sum(us for _, us in BASE)


def test_a_copy_beyond_the_margin_is_told() -> None:
    run = profile_run({"go/std": [evidence(BASE, plain=TOTAL, copy=TOTAL * 0.93)] * 3})
    (finding,) = fired(run, "profile-copy-differs")
    assert "7 % less CPU" in finding.statement


def test_a_copy_within_the_margin_and_no_copy_are_not() -> None:
    run = profile_run({"go/std": [evidence(BASE, copy=TOTAL * 1.04)] * 3, "rust/std": [evidence(BASE)] * 3})
    assert not fired(run, "profile-copy-differs")


def test_rounds_that_scatter_about_no_difference_are_not() -> None:
    scattered = [evidence(BASE, plain=TOTAL, copy=TOTAL * factor) for factor in (0.88, 1.09, 1.12)]
    assert not fired(profile_run({"go/std": scattered}), "profile-copy-differs")


def test_one_round_beyond_the_margin_is() -> None:
    assert fired(profile_run({"go/std": [evidence(BASE, plain=TOTAL, copy=TOTAL * 1.09)]}), "profile-copy-differs")
