from ..sound import fired, loads, result_of, sound_run


def test_one_contender_that_refuses_most() -> None:
    run = sound_run()
    for sample in loads(run, "go/std"):
        counts = result_of(sample).counts
        counts.status = {"200": counts.ok // 10, "429": counts.ok - counts.ok // 10}
    (finding,) = fired(run, "unequal-statuses")
    assert "go/std" in finding.statement
    assert finding.contender == "go/std"  # two others agree: nothing is said of them


def test_where_two_disagree_neither_is_the_odd_one() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": 26_000.0})
    for sample in loads(run, "go/std"):
        result_of(sample).counts.status = {"429": result_of(sample).counts.ok}
    (finding,) = fired(run, "unequal-statuses")
    assert finding.contender is None
    assert "go/std" in finding.statement
    assert "rust/std" in finding.statement


def test_all_that_refuse_alike() -> None:
    run = sound_run()
    for sample in loads(run):
        counts = result_of(sample).counts
        counts.status = {"200": counts.ok // 2, "429": counts.ok - counts.ok // 2}
    assert not fired(run, "unequal-statuses")
