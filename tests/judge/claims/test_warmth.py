"""A runtime that compiles while it runs decides a claim about load only when it was warm."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.judge.claims.case import THROUGHPUT, ruled, warm
from tests.judge.slices import steal
from tests.judge.sound import MIB, loads, sound_run, watch_of
from touchstone.judge.claims.ruling import Ruling
from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.run import Run

GO_TO_KOTLIN: dict[str, Any] = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_least": 3.0}
CLAIM: dict[str, Any] = THROUGHPUT | {"test": GO_TO_KOTLIN}


def test_a_jvm_measured_soon_after_its_start_decides_nothing() -> None:
    ruling = ruled(CLAIM, sound_run())
    assert ruling.ruling is Ruling.UNDECIDED
    assert ruling.reason.startswith("not decided: measured while warming up (the window of kotlin/jvm began 2 s after")
    assert ruling.measurements[0].value == pytest.approx(4 / 3, rel=0.05)
    assert ruling.more_rounds is None


def test_a_cold_number_cannot_be_let() -> None:
    assert ruled(CLAIM, sound_run(), accept_suspect=True).ruling is Ruling.UNDECIDED


@pytest.mark.parametrize(("ended", "expected"), [("flat", Ruling.CONTRADICTED), ("budget", Ruling.UNDECIDED)])
def test_a_warm_up_counts_if_it_ended_flat(ended: Any, expected: Ruling) -> None:
    assert ruled(CLAIM, warm(sound_run(), ended)).ruling is expected


@pytest.mark.parametrize(("seconds", "expected"), [(29.0, Ruling.UNDECIDED), (30.0, Ruling.CONTRADICTED)])
def test_a_window_counts_if_it_was_flat_for_thirty_seconds(seconds: float, expected: Ruling) -> None:
    assert ruled(CLAIM, sound_run(seconds=seconds)).ruling is expected


def test_a_long_window_in_which_the_rate_still_changed_does_not_count() -> None:
    run = sound_run(seconds=40.0)
    for sample in loads(run, "kotlin/jvm"):
        assert sample.result
        for number, point in enumerate(p for p in sample.result.series if p.phase == "load"):
            point.ok = point.sent = round(point.ok * (0.3 if number < 15 else 1.4))
    assert ruled(CLAIM, run).reason.startswith("not decided: measured while warming up")


def leaking_jvm() -> Run:
    """A cold JVM of 400 MiB next to a Go service of 40, whose memory climbs to the end of the load."""
    run = sound_run()
    for contender, base, a_second in (("go/std", 40 * MIB, 0), ("kotlin/jvm", 80 * MIB, 30 * MIB)):
        for sample in loads(run, contender):
            series = watch_of(sample).series
            for point in series:
                point.rss = point.anon = int(base + a_second * point.t)
            sample.figures["rss_after_load"] = float(series[-1].rss or 0)
    return run


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"at_least": 0.8}, Ruling.CONTRADICTED),
        ({"at_most": 0.8}, Ruling.HOLDS),
        ({"at_least": 0.01}, Ruling.UNDECIDED),
        ({"at_least": 0.01, "at_most": 0.8}, Ruling.UNDECIDED),
    ],
)
def test_memory_that_climbs_to_the_end_is_a_lower_bound(bounds: dict[str, float], expected: Ruling) -> None:
    test = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm"} | bounds
    claim = {"figure": "rss_after_load", "load": "lookup", "test": test, "admits": ["memory-grows"]}
    assert ruled(claim, leaking_jvm()).ruling is expected


def test_a_difference_of_cold_memory_that_climbs_cannot_be_let() -> None:
    test = {"kind": "difference", "of": "kotlin/jvm", "to": "go/std", "unit": "MiB", "at_least": 1.0}
    claim = {"figure": "rss_after_load", "load": "lookup", "test": test, "admits": ["memory-grows"]}
    ruling = ruled(claim, leaking_jvm(), accept_suspect=True)
    assert (ruling.ruling, ruling.measurements[0].cold is None) == (Ruling.UNDECIDED, False)


def test_an_older_warm_run_counts_before_a_bound_by_a_cold_one() -> None:
    test = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_least": 0.01}
    claim = {"figure": "rss_after_load", "load": "lookup", "test": test, "admits": ["memory-grows"]}
    old, new = warm(leaking_jvm()), leaking_jvm()
    new.started_at += timedelta(days=1)
    assert [ruled(claim, *runs).ruling for runs in ((new,), (old, new))] == [Ruling.UNDECIDED, Ruling.HOLDS]


def test_memory_of_a_cold_runtime_that_does_not_climb_decides_nothing() -> None:
    run = leaking_jvm()
    for sample in loads(run, "kotlin/jvm"):
        for point in watch_of(sample).series:
            point.rss = point.anon = 400 * MIB
    claim = {"figure": "rss_after_load", "load": "lookup"}
    test = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_least": 0.8}
    assert ruled(claim | {"test": test}, run).reason.startswith("not decided: measured while warming up")


def test_a_contender_is_known_by_the_command_that_ran() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "kotlin/tuned": 15_000.0})
    claim = THROUGHPUT | {"test": GO_TO_KOTLIN | {"to": "kotlin/tuned"}}
    assert ruled(claim, run).ruling is Ruling.CONTRADICTED
    for sample in loads(run, "kotlin/tuned"):
        sample.process.argv = ["/opt/jdk/bin/java", "-jar", "users.jar"]
    assert ruled(claim, run).ruling is Ruling.UNDECIDED


def test_what_is_no_load_figure_is_not_concerned() -> None:
    claim = {"figure": "boot_first_response", "test": GO_TO_KOTLIN}
    assert ruled(claim, sound_run()).ruling is Ruling.CONTRADICTED


def test_the_warm_ups_own_rate_is_not_concerned() -> None:
    value = {"kind": "value", "of": ["kotlin/jvm"], "at_most": 1e6, "unit": "/s"}
    assert ruled({"figure": "warm_up_rate", "load": "lookup", "test": value}, sound_run()).ruling is Ruling.HOLDS


def test_an_older_run_that_was_warm_counts_before_a_newer_one_that_was_not() -> None:
    old, new = warm(sound_run()), sound_run()
    new.plan.run_id, new.started_at = "20270101-000000", new.started_at.replace(year=2027)
    ruling = ruled(CLAIM, old, new)
    assert ruling.ruling is Ruling.CONTRADICTED
    assert ruling.measurements[0].runs == [old.plan.run_id]


def stolen(share: float) -> Run:
    """A host that took a share of the CPU time during Go's windows."""
    return steal(warm(sound_run()), share, ("go/std",))


@pytest.mark.parametrize(
    ("at_most", "expected"), [(1.2, Ruling.CONTRADICTED), (1.4, Ruling.UNDECIDED), (2.0, Ruling.HOLDS)]
)
def test_a_doubt_of_known_size_widens_the_interval_that_decides(at_most: float, expected: Ruling) -> None:
    """Go ran at 4/3 of Kotlin's rate, and may have run 1.11 times as fast without the theft."""
    test = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_most": at_most}
    assert ruled(THROUGHPUT | {"test": test}, warm(sound_run())).ruling is not Ruling.UNDECIDED
    measured = ruled(THROUGHPUT | {"test": test}, stolen(0.1)).measurements[0]
    assert measured.ruling is expected
    assert measured.suspect is None
    assert measured.high is not None
    assert measured.sampled_high is not None
    assert measured.high == pytest.approx(measured.sampled_high / 0.9, rel=0.02)
    assert measured.low == measured.sampled_low


def test_a_doubt_widens_a_value_too_and_says_that_it_leaves_it_open() -> None:
    test = {"kind": "value", "of": ["go/std"], "at_most": 21_000.0, "unit": "/s"}
    assert ruled(THROUGHPUT | {"test": test}, warm(sound_run())).ruling is Ruling.HOLDS
    open_one = ruled(THROUGHPUT | {"test": test}, stolen(0.1))
    assert open_one.ruling is Ruling.UNDECIDED
    assert "widened by what may have moved it" in open_one.reason
    assert open_one.more_rounds is None


def built_next_to(other_cpu_s: float) -> Run:
    """A run whose builds of 15 s had others next to them, which used the CPUs for so long."""
    run = sound_run()
    for sample in run.samples:
        if sample.phase == "build":
            seen = {"wall_s": 15.0, "other_cpu_s": other_cpu_s, "steal_s": 0.0}
            sample.machine = MachineState.model_validate(seen)
    return run


@pytest.mark.parametrize(
    ("test", "other_cpu_s", "expected"),
    [
        # 15 s, and 1.5 times that or a part of it is allowed for a number that was measured once.
        ({"at_most": 23.0}, 0.0, Ruling.HOLDS),
        ({"at_most": 23.0}, 9.0, Ruling.HOLDS),
        ({"at_least": 9.0}, 0.0, Ruling.HOLDS),
        ({"at_least": 9.0}, 9.0, Ruling.UNDECIDED),
        ({"at_most": 3.0}, 9.0, Ruling.CONTRADICTED),
        ({"at_most": 5.0}, 9.0, Ruling.UNDECIDED),
    ],
)
def test_a_disturbed_build_may_have_been_shorter_and_no_longer(
    test: dict[str, float], other_cpu_s: float, expected: Ruling
) -> None:
    value = {"kind": "value", "of": ["go/std"], "unit": "s"} | test
    assert ruled({"figure": "build_cold", "test": value}, built_next_to(other_cpu_s)).ruling is expected


@pytest.mark.parametrize(("at_least", "expected"), [(1.9, Ruling.HOLDS), (2.1, Ruling.UNDECIDED)])
def test_two_different_figures_may_each_have_moved(at_least: float, expected: Ruling) -> None:
    """A cold build of 15 s, which may have been 2.5 times shorter, to a warm one of 2 s; 1.5 times less is allowed."""
    cold, warm_one = ({"contender": "go/std", "figure": figure} for figure in ("build_cold", "build_warm"))
    test = {"kind": "ratio", "of": cold, "to": warm_one, "at_least": at_least}
    assert ruled({"test": test}, built_next_to(9.0)).ruling is expected


@pytest.mark.parametrize("disturbed", [0, 3])
def test_the_doubts_of_all_builds_count_whichever_of_them_is_the_newest(disturbed: int) -> None:
    """Four builds of 15 s, of which one may have been 2.5 times shorter."""
    runs = [built_next_to(9.0 if number == disturbed else 0.0) for number in range(4)]
    for number, run in enumerate(runs):
        run.plan.run_id, run.started_at = f"2027010{number}-000000", run.started_at + timedelta(days=number)
        for sample in run.samples:
            sample.started_at += timedelta(days=number)
    claim = {"figure": "build_cold", "test": {"kind": "value", "of": ["go/std"], "at_least": 9.0, "unit": "s"}}
    measured = ruled(claim, *runs).measurements[0]
    assert len(measured.samples) == 4
    assert measured.low == pytest.approx(15 / 2.5**0.25)
    assert measured.sampled_low == 15.0


def test_a_doubt_widens_no_difference() -> None:
    test = {"kind": "difference", "of": "rust/std", "to": "go/std", "at_least": 1.0, "unit": "/s"}
    ruling = ruled(THROUGHPUT | {"test": test}, stolen(0.1))
    assert ruling.ruling is Ruling.UNDECIDED
    assert "suspect" in ruling.reason


def test_what_neighbouring_slices_share_cancels_in_a_ratio() -> None:
    test = {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_most": 1.4}
    both = steal(warm(sound_run()), 0.1, ("go/std", "kotlin/jvm"))
    assert ruled(THROUGHPUT | {"test": test}, both).ruling is Ruling.HOLDS


def test_what_is_admitted_leaves_the_doubts_that_are_not() -> None:
    run = stolen(0.1)
    for sample in run.samples:
        if sample.contender == "go/std" and sample.result:
            sample.result.generator.stands = False
            sample.result.generator.reasons = ["a reason without a size"]
    claim = THROUGHPUT | {"test": {"kind": "ratio", "of": "go/std", "to": "kotlin/jvm", "at_most": 1.4}}
    assert "suspect" in ruled(claim, run).reason
    measured = ruled(claim | {"admits": ["engine-withdraws"]}, run).measurements[0]
    assert (measured.ruling, measured.suspect) == (Ruling.UNDECIDED, None)
    assert measured.high is not None
    assert measured.sampled_high is not None
    assert measured.high == pytest.approx(measured.sampled_high / 0.9, rel=0.02)
