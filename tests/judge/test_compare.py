"""What a comparison says, and when it says nothing."""

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Comparison, Outcome, Verdict
from touchstone.record.run import ContenderPlan, Run
from touchstone.record.sample import Failure
from touchstone.report.answer import answer
from touchstone.report.view import View

from .sound import ended, first_load, loads, result_of, sound_run, watch_of


def _comparison(run: Run, contender: str, figure: str = "throughput") -> Comparison:
    (found,) = [c for c in judge(run).comparisons if (c.contender, c.figure) == (contender, figure)]
    return found


def _pair(ratio: float, *, rounds: int = 7, noise: float = 0.01, seed: int = 3) -> Run:
    contenders = {"go/std": 20_000.0, "rust/std": 20_000.0 * ratio}
    return sound_run(contenders=contenders, rounds=rounds, noise=noise, seed=seed)


def test_a_clear_difference_is_decided_with_its_interval() -> None:
    comparison = _comparison(_pair(1.2), "rust/std")
    assert comparison.outcome is Outcome.BETTER
    assert comparison.low is not None and comparison.high is not None
    assert comparison.low < 1.2 < comparison.high
    assert comparison.rounds == 7
    assert comparison.sentence.startswith("rust/std answers 2")


def test_faster_means_better_also_where_less_is_better() -> None:
    comparison = _comparison(_pair(1.2), "rust/std", "latency_p50")
    assert comparison.ratio is not None and comparison.ratio < 1
    assert comparison.outcome is Outcome.BETTER
    assert comparison.better is True


def test_the_same_within_the_margin_is_equivalent() -> None:
    comparison = _comparison(_pair(1.0), "rust/std")
    assert comparison.outcome is Outcome.EQUIVALENT
    assert "within 5 %" in comparison.sentence


def test_a_certain_difference_below_the_margin_is_equivalent() -> None:
    comparison = _comparison(_pair(1.02, rounds=15, noise=0.003), "rust/std")
    assert comparison.low is not None and comparison.low > 1
    assert comparison.outcome is Outcome.EQUIVALENT


def test_noise_leaves_it_undecided_and_says_for_how_long() -> None:
    comparison = _comparison(_pair(1.05, rounds=4, noise=0.08), "rust/std")
    assert comparison.outcome is Outcome.UNDECIDED
    assert comparison.better is None
    assert comparison.more_rounds is not None and comparison.more_rounds > 0
    assert "would decide it" in comparison.sentence


def test_a_wider_margin_makes_more_equivalent() -> None:
    run = _pair(1.06)
    assert _comparison(run, "rust/std").outcome is not Outcome.EQUIVALENT
    (wide,) = [c for c in judge(run, margin=0.15).comparisons if c.figure == "throughput"]
    assert wide.outcome is Outcome.EQUIVALENT


def test_an_invalid_contender_is_left_out() -> None:
    run = _pair(1.2)
    for sample in loads(run, "rust/std"):
        ended(result_of(sample), wrong_body=result_of(sample).counts.sent)
    comparison = _comparison(run, "rust/std")
    assert comparison.verdict is Verdict.INVALID
    assert comparison.ratio is None
    assert comparison.outcome is Outcome.UNDECIDED
    assert "cannot be compared" in comparison.sentence


def test_an_invalid_round_is_left_out_of_pair_and_estimate() -> None:
    run = _pair(1.2)
    sample = first_load(run)
    ended(result_of(sample), wrong_body=100)
    judgement = judge(run)
    (estimate,) = [e for e in judgement.estimates if (e.contender, e.figure) == ("go/std", "throughput")]
    assert estimate.left_out == [sample.id]
    assert estimate.verdict is Verdict.SUSPECT
    assert _comparison(run, "rust/std").rounds == 6


def test_a_finding_on_memory_leaves_throughput_alone() -> None:
    run = _pair(1.2)
    for sample in loads(run, "rust/std"):
        watch_of(sample).window.cpu_s = 0.0
    assert _comparison(run, "rust/std", "rss_peak").verdict is Verdict.INVALID
    assert _comparison(run, "rust/std", "throughput").verdict is Verdict.VALID


def test_boots_of_one_sample_are_compared_start_by_start() -> None:
    comparison = _comparison(_pair(1.0), "rust/std", "boot_first_response")
    assert comparison.low is not None
    assert comparison.outcome is Outcome.EQUIVALENT


def test_counted_figures_need_no_rounds() -> None:
    run = _pair(1.0)
    next(s for s in run.samples if s.id == "build-rust/std").figures["artifact_bytes"] /= 4
    comparison = _comparison(run, "rust/std", "artifact_bytes")
    assert comparison.outcome is Outcome.BETTER
    assert comparison.low == comparison.high == pytest.approx(0.25)
    assert "4 times lower" in comparison.sentence


def test_one_cold_build_each_gives_a_ratio_without_an_interval() -> None:
    comparison = _comparison(_pair(1.0), "rust/std", "build_cold")
    assert comparison.ratio == pytest.approx(1.0)
    assert comparison.low is None
    assert comparison.outcome is Outcome.UNDECIDED
    assert comparison.more_rounds is None
    assert "Measured once each" in comparison.sentence


def test_no_errors_on_either_side_is_equal() -> None:
    comparison = _comparison(_pair(1.0), "rust/std", "error_share")
    assert comparison.outcome is Outcome.EQUIVALENT
    assert "0 in every round" in comparison.sentence


def test_the_baseline_is_the_plans_stack() -> None:
    run = sound_run()
    run.plan.baseline = "kotlin"
    assert {c.baseline for c in judge(run).comparisons} == {"kotlin/jvm"}


def test_a_baseline_is_a_stack_or_a_contender_and_an_exhibit_only_where_all_are() -> None:
    plan = sound_run(contenders={"go/leak": 1.0, "go/std": 1.0, "rust/std": 1.0}).plan
    names = [contender.name for contender in plan.contenders]
    plan.baseline, plan.contenders[0].exhibit = "go", "a leak"
    assert plan.baseline_among(names) == "go/std"
    assert plan.baseline_among(["go/leak", "rust/std"]) == "go/leak", "it is what was asked for"
    assert plan.model_copy(update={"baseline": "rust/std"}).baseline_among(names) == "rust/std"
    assert plan.model_copy(update={"baseline": "zig"}).baseline_among(names) == "go/std"
    assert plan.baseline_among([]) is None


def test_an_exhibit_is_put_against_its_sound_twin() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": 26_000.0, "rust/leak": 5_000.0})
    plan: ContenderPlan = run.plan.contenders[2]
    plan.exhibit, plan.sound_twin = "a leak", "rust/std"
    pairs = {(c.contender, c.baseline) for c in judge(run).comparisons}
    assert ("rust/leak", "rust/std") in pairs


def test_an_invalid_exhibit_does_not_spoil_the_run() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": 26_000.0, "rust/leak": 5_000.0})
    run.plan.contenders[2].exhibit = "a leak"
    for sample in loads(run, "rust/leak"):
        ended(result_of(sample), reset=500)
    assert judge(run).verdict is Verdict.VALID


@pytest.mark.parametrize("margin,confidence", [(0.0, 0.95), (-1.0, 0.95), (0.05, 1.0), (0.05, 0.1)])
def test_senseless_levels_are_refused(margin: float, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"margin|confidence"):
        judge(sound_run(), margin=margin, confidence=confidence)


def test_an_empty_run_is_invalid() -> None:
    run = sound_run()
    run.samples = []
    judgement = judge(run)
    assert judgement.verdict is Verdict.INVALID
    assert judgement.comparisons == []


def test_the_others_are_compared_though_the_baseline_failed() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "rust/std": 20_000.0, "node/std": 10_000.0})
    assert {c.baseline for c in judge(run).comparisons} == {"go/std"}
    for sample in run.samples:
        if sample.phase == "load" and sample.contender == "go/std":
            sample.failure = Failure(what="the server ended", fix="see its log")
            sample.evidence, sample.figures = None, {}
    judged = judge(run)
    assert [one.contender for one in judged.failed] == ["go/std"]
    assert _comparison(run, "node/std").baseline == "rust/std"
    assert _comparison(run, "node/std").outcome is Outcome.WORSE
    assert answer(View(run, judged))[0].startswith("go/std failed, so the others are compared with rust/std. ")


def test_one_sound_contender_is_compared_with_nobody() -> None:
    run = _pair(1.2)
    for sample in run.samples:
        if sample.phase == "load" and sample.contender == "go/std":
            sample.failure = Failure(what="the server ended", fix="see its log")
            sample.evidence, sample.figures = None, {}
    assert not [c for c in judge(run).comparisons if c.figure == "throughput"]
