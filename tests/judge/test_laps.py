"""Ratios of neighbouring slices: what the machine does cancels, what a process is born with does not."""

from __future__ import annotations

import math
import random

from tests.judge.slices import sliced_run, steal
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome
from touchstone.judge.reading.laps import AS_THEY_ARE, lap_effects
from touchstone.record.evidence.slices import Slice
from touchstone.record.run import Run
from touchstone.record.sample import Sample

GO, RUST = "go/std", "rust/std"


def hog(round_: int, lap: int) -> float:
    """A neighbour that takes up to half of the machine, in most laps another share."""
    return 1 - 0.5 * abs(math.sin(3.7 * lap + round_))


def comparison(run: Run, figure: str = "throughput") -> Comparison:
    (found,) = [c for c in judge(run).comparisons if (c.contender, c.figure) == (RUST, figure)]
    return found


def samples(run: Run, round_: int) -> tuple[Sample, Sample]:
    by_name = {s.contender: s for s in run.samples if s.phase == "load" and s.round == round_}
    return by_name[RUST], by_name[GO]


def test_a_hog_that_both_share_cancels() -> None:
    run = sliced_run({GO: 20_000.0, RUST: 21_000.0}, machine=hog)
    found = comparison(run)
    assert found.laps == 5 * 12
    assert found.outcome is Outcome.BETTER or found.outcome is Outcome.EQUIVALENT
    assert found.low is not None and found.high is not None
    assert 1.03 < found.low < 1.05 < found.high < 1.07


def test_one_contender_under_two_names_is_no_difference() -> None:
    found = comparison(sliced_run({GO: 20_000.0, RUST: 20_000.0}, machine=hog))
    assert found.outcome is Outcome.EQUIVALENT


def test_luck_that_a_process_is_born_with_stays_in_the_interval() -> None:
    lucky = comparison(sliced_run({GO: 20_000.0, RUST: 20_000.0}, luck=0.05))
    plain = comparison(sliced_run({GO: 20_000.0, RUST: 20_000.0}))
    assert lucky.low is not None and lucky.high is not None and plain.low is not None and plain.high is not None
    assert math.log(lucky.high / lucky.low) > 2 * math.log(plain.high / plain.low)


def test_a_lap_that_met_a_neighbour_halfway_counts_no_more_than_another() -> None:
    run = sliced_run({GO: 20_000.0, RUST: 20_000.0}, noise=0.001)
    contender, baseline = samples(run, 1)
    assert contender.slices is not None
    for one in contender.slices.slices[:2]:
        one.rate = 2_000.0
    ((effect,), _) = lap_effects([(contender, baseline)], "throughput")
    assert abs(effect.effect) < 0.01


def test_few_laps_leave_it_to_the_figures_of_the_round() -> None:
    run = sliced_run({GO: 20_000.0, RUST: 26_000.0}, laps=3)
    assert lap_effects([samples(run, 1)], "throughput") == ([], AS_THEY_ARE)
    assert comparison(run).laps == 0
    assert comparison(run).outcome is Outcome.BETTER


def test_laps_that_one_of_them_has_not_are_left_out() -> None:
    contender, baseline = samples(sliced_run({GO: 20_000.0, RUST: 20_000.0}), 1)
    assert baseline.slices is not None
    baseline.slices.slices = baseline.slices.slices[:7]
    ((effect,), _) = lap_effects([(contender, baseline)], "throughput")
    assert effect.laps == 7


def test_a_far_percentile_of_a_slice_counts_where_one_stall_is_within_it() -> None:
    run = sliced_run({GO: 40_000.0, RUST: 44_000.0}, noise=0.01)
    for contender, one in turns(run):
        if contender == GO and one.lap == 3:
            assert one.latency is not None
            one.latency.p99 = 1.0
    found = comparison(run, "latency_p99")
    assert found.laps == 5 * 12
    assert found.low is not None and found.high is not None
    assert 0.9 < found.low < 1 / 1.1 < found.high < 0.92


def test_a_slice_of_few_requests_tells_nothing_of_the_99th_percentile() -> None:
    few = {GO: 20_000.0, RUST: 44_000.0}
    assert comparison(sliced_run(few), "latency_p99").laps == 0
    assert comparison(sliced_run(few), "latency_p50").laps == 5 * 12


def test_nor_does_one_of_an_open_loop_in_which_a_stall_holds_up_all_that_comes() -> None:
    run = sliced_run({GO: 40_000.0, RUST: 44_000.0})
    for sample in run.samples:
        if sample.result is not None:
            sample.spec.loop = "open"
    assert comparison(run, "latency_p99").laps == 0


def turns(run: Run) -> list[tuple[str, Slice]]:
    """Every slice of a run, with its contender."""
    return [(sample.contender, one) for sample in run.samples if sample.slices for one in sample.slices.slices]


def taken_by_others(run: Run, *, answers: float, favours: str = "", seed: int = 3) -> Run:
    """In each slice others have up to a CPU, and the rate `answers` to each; 0.3 more where a contender is favoured."""
    dice = random.Random(seed)
    for contender, one in turns(run):
        had = dice.random() + (0.3 if contender == favours else 0.0)
        one.other_cpu_s = had * (one.end - one.begin)
        one.steal_s = 0.0
        assert one.rate is not None
        one.rate *= 1 - answers * had
    return run


RATES = {GO: 20_000.0, RUST: 21_000.0}


def test_what_others_took_in_single_slices_is_taken_into_account() -> None:
    disturbed = comparison(taken_by_others(sliced_run(RATES), answers=0.5))
    assert disturbed.slope is not None and -1.2 < disturbed.slope < -0.4
    assert disturbed.low is not None and disturbed.high is not None
    # Unknown, half a CPU more or less in each slice would scatter the ratio by 30 % from lap to lap.
    assert 1.02 < disturbed.low < 1.05 < disturbed.high < 1.08


def test_at_equal_disturbance_its_difference_is_no_doubt() -> None:
    found = comparison(steal(taken_by_others(sliced_run(RATES), answers=0.5), 0.20, (RUST,)))
    assert found.slope is not None
    assert found.sampled_low is None, "no interval was widened"


def test_what_a_contender_leaves_to_others_is_not_given_back_to_it() -> None:
    found = comparison(taken_by_others(sliced_run(RATES), answers=0.5, favours=RUST))
    assert found.slope is None
    assert found.ratio is not None and found.ratio < 0.95


def test_others_that_do_not_move_the_rate_are_left_alone() -> None:
    assert comparison(taken_by_others(sliced_run(RATES), answers=0.0)).slope is None


def test_cpu_per_request_is_the_service_s_own() -> None:
    assert comparison(taken_by_others(sliced_run(RATES), answers=0.5), "cpu_per_request").slope is None


def on_slow_cores(run: Run, *, answers: float, favours: str = "", seed: int = 5) -> Run:
    """In each slice the core is up to 15 % slower; rate and CPU per request answer, more where one is favoured."""
    dice = random.Random(seed)
    for contender, one in turns(run):
        slower = 1 + 0.15 * dice.random() + (0.05 if contender == favours else 0.0)
        one.reference_s = 3e-6 * slower
        assert one.rate is not None
        one.rate /= slower**answers
        if one.server_cpu_s is not None:
            one.server_cpu_s *= slower**answers
    return run


def test_a_core_that_is_slower_in_single_slices_is_taken_into_account() -> None:
    for figure in ("throughput", "cpu_per_request"):
        blind = on_slow_cores(sliced_run(RATES), answers=3)
        for _, one in turns(blind):
            one.reference_s = None
        unknown, known = comparison(blind, figure), comparison(on_slow_cores(sliced_run(RATES), answers=3), figure)
        assert unknown.core_slope is None and known.core_slope is not None and known.slope is None
        assert 2.5 < abs(known.core_slope) < 3.5
        assert unknown.low is not None and unknown.high is not None and known.low is not None and known.high is not None
        assert math.log(unknown.high / unknown.low) > 3 * math.log(known.high / known.low)


def test_rounds_that_were_cut_short_are_compared_at_equal_disturbance_too() -> None:
    fewest = comparison(on_slow_cores(sliced_run(RATES, rounds=4, laps=4), answers=3))
    assert fewest.core_slope is not None and 2 < abs(fewest.core_slope) < 4
    assert comparison(on_slow_cores(sliced_run(RATES, rounds=3, laps=5), answers=3)).core_slope is None


def test_a_contender_that_slows_its_own_core_down_is_not_forgiven() -> None:
    found = comparison(on_slow_cores(sliced_run(RATES), answers=3, favours=RUST))
    assert found.core_slope is None
    assert found.ratio is not None and found.ratio < 0.95


def test_a_slow_core_that_moves_nothing_is_left_alone() -> None:
    assert comparison(on_slow_cores(sliced_run(RATES), answers=0)).core_slope is None


def test_both_disturbances_are_told_apart() -> None:
    found = comparison(on_slow_cores(taken_by_others(sliced_run(RATES), answers=0.5), answers=3))
    assert found.slope is not None and -1.2 < found.slope < -0.4
    assert found.core_slope is not None and -3.5 < found.core_slope < -2.5
    assert found.low is not None and found.high is not None and 1.02 < found.low < 1.05 < found.high < 1.08


def taken_here(run: Run, *, favours: str = "", told: bool = True, seed: int = 7) -> Run:
    """In each slice others have up to 0.7 of a CPU, here or there: the rate answers only to what they have here."""
    dice = random.Random(seed)
    for contender, one in turns(run):
        had = 0.7 * dice.random() + (0.1 if contender == favours else 0.0)
        here = had if dice.random() < 0.5 else 0.0
        one.other_cpu_s, one.steal_s = had * (one.end - one.begin), 0.0
        one.taken_here = here if told else None
        assert one.rate is not None
        one.rate *= 1 - here
    return run


def width(found: Comparison) -> float:
    assert found.low is not None and found.high is not None
    return math.log(found.high / found.low)


def test_what_others_left_of_the_contender_s_own_cpus_tells_more_than_what_they_took_of_the_machine() -> None:
    machine, own = comparison(taken_here(sliced_run(RATES), told=False)), comparison(taken_here(sliced_run(RATES)))
    assert machine.left_slope is None and machine.slope is not None
    assert own.left_slope is not None and 0.9 < own.left_slope < 1.1
    assert width(own) < width(machine) / 3
    assert own.low is not None and own.high is not None and 1.02 < own.low < 1.05 < own.high < 1.08


def test_at_equal_disturbance_of_its_own_cpus_its_difference_is_no_doubt() -> None:
    found = comparison(steal(taken_here(sliced_run(RATES)), 0.20, (RUST,)))
    assert found.left_slope is not None
    assert found.sampled_low is None, "no interval was widened"


def test_what_others_had_of_one_contender_s_cpus_alone_is_not_given_back_to_it() -> None:
    run = sliced_run(RATES)
    for contender, one in turns(run):
        one.taken_here = 0.20 + 0.01 * (one.index % 3) if contender == RUST else 0.01 * (one.index % 3)
        assert one.rate is not None
        one.rate *= 1 - one.taken_here
    found = comparison(run)
    assert found.left_slope is None
    assert found.ratio is not None and found.ratio < 0.95


def test_a_share_that_is_all_but_gone_does_not_decide_alone() -> None:
    run = taken_here(sliced_run(RATES))
    one = next(one for contender, one in turns(run) if contender == RUST)
    one.taken_here = 1.0
    found = comparison(run)
    assert found.ratio is not None and 1.0 < found.ratio < 1.1
