"""A suspicion with a size widens the interval, and the widened one decides."""

from __future__ import annotations

import math

import pytest

from tests.judge.slices import put_slices, sliced_run, steal
from tests.judge.sound import MIB, loads, result_of, sound_run, watch_of
from touchstone.judge.comparison.possible_bias import PossibleBiases, combine, widened
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome, PossibleBias, Verdict
from touchstone.judge.statistics.decision import Interval
from touchstone.record.evidence.slices import WarmUp
from touchstone.record.run import Run
from touchstone.record.sample import TARE

GO, RUST = "go/std", "rust/std"
SEEN = Interval(1.5, 1.45, 1.55)


def comparison(run: Run, figure: str = "throughput") -> Comparison:
    (found,) = [c for c in judge(run).comparisons if (c.contender, c.figure) == (RUST, figure)]
    return found


def test_stolen_time_does_not_make_a_great_difference_suspect() -> None:
    run = steal(sound_run(contenders={GO: 20_000.0, RUST: 60_000.0}, tare_rate=200_000.0), 0.07, (GO, RUST))
    found = comparison(run)
    assert found.verdict is Verdict.VALID
    assert found.outcome is Outcome.BETTER
    assert found.low is not None and found.sampled_low is not None
    assert found.low == pytest.approx(found.sampled_low * 0.93, rel=1e-3)


def test_stolen_time_leaves_a_small_difference_open() -> None:
    run = steal(sound_run(contenders={GO: 20_000.0, RUST: 21_400.0}, rounds=9), 0.20, (GO, RUST))
    found = comparison(run)
    assert found.outcome is Outcome.UNDECIDED
    assert found.sampled_low is not None and found.sampled_low > 1


def test_of_what_neighbouring_slices_share_only_the_difference_counts() -> None:
    run = steal(sliced_run({GO: 20_000.0, RUST: 21_400.0}), 0.20, (GO, RUST))
    found = comparison(run)
    assert found.outcome is Outcome.BETTER


@pytest.mark.parametrize(("times", "outcome"), [(3.0, Outcome.WORSE), (0.5, Outcome.UNDECIDED)])
def test_memory_that_still_grew_is_a_lower_bound(times: float, outcome: Outcome) -> None:
    run = sound_run(seconds=40.0)
    for sample in loads(run):
        peak = 400 * MIB * (times if sample.contender == RUST else 1.0)
        sample.figures["rss_peak"] = peak
        for point in watch_of(sample).series:
            growth = point.t / 42.0 if sample.contender == RUST else 1.0
            point.rss = int(peak * (0.2 + 0.8 * growth))
            point.anon, point.pss = point.rss - 2 * MIB, point.rss - MIB
    found = comparison(run, "rss_peak")
    assert (found.verdict, found.outcome) == (Verdict.VALID, outcome)
    assert found.high == math.inf
    assert found.more_rounds is None
    assert ("More rounds would not decide it" in found.sentence) is (outcome is Outcome.UNDECIDED)


@pytest.mark.parametrize(("figure", "side"), [("throughput", "high"), ("latency_p50", "low")])
def test_a_faster_contender_has_a_higher_rate_and_lower_times(figure: str, side: str) -> None:
    found = widened(SEEN, PossibleBiases(faster=math.log(2)), PossibleBiases(), figure, paired=False)
    expected = {"high": (1.45, 3.1), "low": (0.725, 1.55)}[side]
    assert (found.low, found.high) == pytest.approx(expected)


def test_one_cause_is_not_counted_twice() -> None:
    both = combine([PossibleBias(faster=1.1, common=True), PossibleBias(faster=1.2, common=True)], "throughput")
    assert both.common_faster == pytest.approx(math.log(1.2))


@pytest.mark.parametrize(
    ("seen", "figure", "paired", "expected"),
    [
        (Interval(0.80, 0.78, 0.82), "throughput", True, (0.39, 0.82)),
        (Interval(1.25, 1.20, 1.30), "throughput", True, (1.20, 3.90)),
        (Interval(1.25, 1.20, 1.30), "latency_p50", True, (1.20, 2.60)),
        (Interval(0.80, 0.78, 0.82), "latency_p50", True, (0.26, 0.82)),
        (Interval(1.01, 0.98, 1.04), "throughput", True, (0.49, 3.12)),
        (Interval(0.80, 0.78, 0.82), "throughput", False, (0.39, 2.46)),
    ],
)
def test_a_limit_of_both_turns_nothing_around(
    seen: Interval, figure: str, paired: bool, expected: tuple[float, float]
) -> None:
    contender, baseline = PossibleBiases(pressed=math.log(3)), PossibleBiases(pressed=math.log(2))
    found = widened(seen, contender, baseline, figure, paired=paired)
    assert (found.low, found.high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("seen", "contender", "baseline", "paired", "expected"),
    [
        (Interval(0.80, 0.70, 0.90), 0.20, 0.22, True, (0, 0.90)),
        (Interval(1.30, 1.10, 1.50), 0.20, 0.22, True, (1.10, math.inf)),
        (Interval(0.95, 0.80, 1.10), 0.20, 0.22, True, (0, math.inf)),
        (Interval(0.80, 0.70, 0.90), 0.40, 0.10, True, (0, 0.90)),
        (Interval(0.80, 0.70, 0.90), 0.10, 0.40, True, (0, math.inf)),
        (Interval(0.80, 0.70, 0.90), 0.20, 0.22, False, (0, math.inf)),
    ],
)
def test_a_disturbance_that_both_share_draws_far_percentiles_together(
    seen: Interval, contender: float, baseline: float, paired: bool, expected: tuple[float, float]
) -> None:
    own, other = (
        combine([PossibleBias(faster=math.exp(of), common=True)], "latency_p99") for of in (contender, baseline)
    )
    found = widened(seen, own, other, "latency_p99", paired=paired)
    assert (found.low, found.high) == pytest.approx(expected)
    assert own.as_doubt() == PossibleBias(faster=None)


def test_what_else_may_have_moved_them_comes_before_the_limit() -> None:
    doubts = PossibleBiases(faster=math.log(1.4), pressed=math.log(3))
    found = widened(Interval(0.80, 0.78, 0.82), doubts, PossibleBiases(), "throughput", paired=True)
    assert (found.low, found.high) == pytest.approx((0.78, 0.82 * 1.4 * 3))


def test_who_is_faster_is_known_at_the_ceiling_of_neighbouring_slices() -> None:
    run = sliced_run({GO: 20_000.0, RUST: 18_500.0})
    for sample in run.samples:
        if sample.contender == TARE:
            result_of(sample).rate.achieved = sample.figures["throughput"] = 20_200.0
        elif sample.phase == "load":
            watch_of(sample).window.cpu_s = 8.0
    found = comparison(run)
    assert found.outcome is Outcome.WORSE
    assert found.low == 0
    assert found.high == pytest.approx(0.925, rel=0.02)
    assert "95 % interval at most 0.9" in found.sentence


def test_a_contender_that_still_warms_up_is_never_called_slower() -> None:
    rising = WarmUp(ended="budget", seconds=45.0, requests=100_000, growth=0.08)
    run = sliced_run({GO: 20_000.0, RUST: 15_000.0})
    for sample in run.samples:
        if sample.contender == RUST and sample.slices is not None:
            put_slices(sample, [one.rate or 0.0 for one in sample.slices.slices], rising)
    found = comparison(run)
    assert found.outcome is Outcome.UNDECIDED
    assert found.low is not None and found.low == pytest.approx(0.75, rel=0.02)
    assert found.high is not None and math.isinf(found.high)


def test_and_may_be_called_faster() -> None:
    rising = WarmUp(ended="budget", seconds=45.0, requests=100_000, growth=0.08)
    run = sliced_run({GO: 20_000.0, RUST: 26_000.0})
    for sample in run.samples:
        if sample.contender == RUST and sample.slices is not None:
            put_slices(sample, [one.rate or 0.0 for one in sample.slices.slices], rising)
    assert comparison(run).outcome is Outcome.BETTER


def still_warm_up(run: Run, contender: str, rounds: int) -> Run:
    """Let these rounds of a contender be cut off at half its rate."""
    budget = WarmUp(ended="budget", seconds=45.0, requests=90_000, growth=0.2)
    for sample in [s for s in run.samples if s.phase == "load" and s.contender == contender][:rounds]:
        put_slices(sample, [10_000.0] * 12, budget)
    return run


def test_a_round_that_was_not_warm_is_left_out_where_most_were() -> None:
    found = comparison(still_warm_up(sliced_run({GO: 20_000.0, RUST: 26_000.0}), RUST, 2))
    assert (found.outcome, found.rounds) == (Outcome.BETTER, 3)
    assert found.ratio == pytest.approx(1.3, rel=0.02)


@pytest.mark.parametrize(("rounds", "cold"), [(5, 3), (3, 2)])
def test_where_too_few_rounds_were_warm_the_figure_is_a_bound(rounds: int, cold: int) -> None:
    found = comparison(still_warm_up(sliced_run({GO: 20_000.0, RUST: 26_000.0}, rounds=rounds), RUST, cold))
    assert found.rounds == rounds
    assert found.high is not None and math.isinf(found.high)


def test_a_disturbance_does_not_move_the_rate_of_a_schedule() -> None:
    run = steal(sliced_run({GO: 20_000.0, RUST: 20_000.0}), 0.20, (RUST,))
    for sample in run.samples:
        if sample.result is not None:
            sample.spec.loop = "open"
    assert comparison(run).sampled_low is None
    assert comparison(run, "cpu_per_request").sampled_low is not None


@pytest.mark.parametrize(
    ("rounds", "slower", "outcome"),
    [(5, GO, Outcome.BETTER), (5, RUST, Outcome.UNDECIDED), (1, RUST, Outcome.WORSE)],
)
def test_of_a_far_percentile_the_side_is_known_and_a_round_of_five_is_scatter(
    rounds: int, slower: str, outcome: Outcome
) -> None:
    run = sound_run(rounds=5)
    for sample in loads(run, slower):
        latency = result_of(sample).latency
        for name in ("p99", "p99_9", "p99_99", "max"):
            setattr(latency, name, 2 * getattr(latency, name))
        sample.figures["latency_p99"] = latency.p99 or 0.0
    steal(run.model_copy(update={"samples": loads(run, RUST)[:rounds]}), 0.07, (RUST,))
    found = comparison(run, "latency_p99")
    assert (found.verdict, found.outcome) == (Verdict.VALID, outcome)
    assert (found.low == 0) is (rounds == 5)
