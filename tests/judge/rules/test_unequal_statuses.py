import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Outcome
from touchstone.record.run import Run

from ..sound import fired, loads, result_of, sound_run

TWO = {"go/std": 20_000.0, "rust/std": 26_000.0}


def refuse(run: Run, contender: str | None, share: float, answers: int | None = None) -> Run:
    """Let a contender, or all, answer a share of the requests with 429."""
    for sample in loads(run, contender):
        counts = result_of(sample).counts
        total = answers or counts.ok
        counts.status = {"200": total - round(share * total), "429": round(share * total)}
    return run


def test_one_contender_that_refuses_most() -> None:
    (finding,) = fired(refuse(sound_run(), "go/std", 0.9), "unequal-statuses")
    assert "go/std" in finding.statement
    assert finding.contender == "go/std"  # two others agree: nothing is said of them


@pytest.mark.parametrize(("share", "count"), [(0.019, 0), (0.021, 1)])
def test_from_two_points_on_a_refusal_is_suspect_with_a_bound(share: float, count: int) -> None:
    found = fired(refuse(sound_run(), "go/std", share), "unequal-statuses")
    assert len(found) == count
    for finding in found:
        assert finding.doubt is not None
        assert finding.doubt.slower == pytest.approx(1 / (1 - share), rel=1e-3)


@pytest.mark.parametrize(("share", "bounded"), [(0.099, True), (0.101, False)])
def test_from_ten_points_on_there_is_no_bound(share: float, bounded: bool) -> None:
    (finding,) = fired(refuse(sound_run(), "go/std", share), "unequal-statuses")
    assert (finding.doubt is not None) is bounded


def test_who_refuses_a_tenth_is_not_called_faster_by_a_tenth() -> None:
    (plain,) = (
        c
        for c in judge(sound_run(contenders={"go/std": 20_000.0, "rust/std": 22_000.0})).comparisons
        if c.figure == "throughput"
    )
    run = refuse(sound_run(contenders={"go/std": 20_000.0, "rust/std": 22_000.0}), "rust/std", 0.09)
    (found,) = (c for c in judge(run).comparisons if c.figure == "throughput")
    assert plain.outcome is Outcome.BETTER
    assert found.outcome is not Outcome.BETTER


def test_who_serves_what_most_refuse_may_only_be_faster() -> None:
    (finding,) = fired(refuse(refuse(sound_run(), None, 0.05), "go/std", 0.0), "unequal-statuses")
    assert finding.contender == "go/std"
    assert finding.doubt is not None
    assert finding.doubt.slower == 1
    assert finding.doubt.faster == pytest.approx(1 / 0.95, rel=1e-3)


@pytest.mark.parametrize(("answers", "count"), [(200, 0), (20_000, 1)])
def test_chance_is_no_difference(answers: int, count: int) -> None:
    run = refuse(refuse(sound_run(rounds=1), None, 0.5, answers), "go/std", 0.56, answers)
    assert len(fired(run, "unequal-statuses")) == count


def test_where_two_disagree_neither_is_the_odd_one() -> None:
    (finding,) = fired(refuse(sound_run(contenders=TWO), "go/std", 1.0), "unequal-statuses")
    assert finding.contender is None
    assert "go/std" in finding.statement
    assert "rust/std" in finding.statement


def test_all_that_refuse_alike() -> None:
    assert not fired(refuse(sound_run(), None, 0.5), "unequal-statuses")
