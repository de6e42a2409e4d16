"""Each relation holds, is contradicted, and stays undecided, where it should."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judge.claims.case import add_floor, claims, ruled, verdict_on
from tests.judge.sound import ended, sound_run
from touchstone.judge.claims.evidence import RunWithJudgement
from touchstone.judge.claims.judge import judge_claims, no_obstacle
from touchstone.judge.claims.ruling import Ruling
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Finding, Severity, Verdict
from touchstone.record.evidence.floor import FloorEvidence, FloorTry

HOLDS, CONTRADICTED, UNDECIDED = Ruling.HOLDS, Ruling.CONTRADICTED, Ruling.UNDECIDED
RUST_TO_GO = {"kind": "ratio", "of": "rust/std", "to": "go/std"}


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"at_least": 1.2}, HOLDS),
        ({"at_least": 1.2, "at_most": 1.4}, HOLDS),
        ({"at_least": 1.5}, CONTRADICTED),
        ({"at_most": 1.1}, CONTRADICTED),
        ({"at_least": 1.3}, UNDECIDED),
    ],
)
def test_a_ratio_is_held_against_its_bounds(bounds: dict[str, float], expected: Ruling) -> None:
    ruling = verdict_on(RUST_TO_GO | bounds)
    assert ruling.ruling is expected
    measured = ruling.measurements[0]
    assert measured.value == pytest.approx(1.3, rel=0.05)
    assert measured.low is not None
    assert measured.high is not None
    assert measured.low < 1.3 < measured.high


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"at_least": 15000.0, "unit": "/s"}, HOLDS),
        ({"at_most": 15000.0, "unit": "/s"}, CONTRADICTED),
        ({"at_least": 20000.0, "unit": "/s"}, UNDECIDED),
    ],
)
def test_a_value_is_held_against_its_bounds(bounds: dict[str, Any], expected: Ruling) -> None:
    assert verdict_on({"kind": "value", "of": ["go/std"]} | bounds).ruling is expected


def test_a_value_is_read_in_its_own_unit() -> None:
    in_mib = {"kind": "value", "of": ["go/std"], "at_most": 61.0, "at_least": 59.0, "unit": "MiB"}
    assert ruled({"figure": "rss_peak", "load": "lookup", "test": in_mib}).ruling is HOLDS
    assert ruled({"figure": "rss_peak", "load": "lookup", "test": in_mib | {"unit": "MB"}}).ruling is CONTRADICTED


def test_a_statement_about_several_is_contradicted_by_any_of_them() -> None:
    test = {"kind": "value", "of": ["go/std", "kotlin/jvm"], "at_least": 18000.0, "unit": "/s"}
    ruling = verdict_on(test)
    assert ruling.ruling is CONTRADICTED
    assert [m.ruling for m in ruling.measurements] == [HOLDS, CONTRADICTED]


@pytest.mark.parametrize(
    ("at_least", "expected"), [(5000.0, HOLDS), (9000.0, CONTRADICTED), (6000.0, UNDECIDED)]
)  # fmt: skip
def test_a_difference_is_held_against_its_bounds(at_least: float, expected: Ruling) -> None:
    test = {"kind": "difference", "of": "rust/std", "to": "go/std", "at_least": at_least, "unit": "/s"}
    assert verdict_on(test).ruling is expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (["kotlin/jvm", "go/std", "rust/std"], HOLDS),
        (["go/std", "kotlin/jvm", "rust/std"], CONTRADICTED),
    ],
)
def test_an_order_is_from_the_lowest_to_the_highest(order: list[str], expected: Ruling) -> None:
    assert verdict_on({"kind": "order", "of": order}).ruling is expected


def test_an_order_of_equals_is_not_decided() -> None:
    run = sound_run(contenders={"go/std": 20_000.0, "go/other": 20_000.0})
    assert verdict_on({"kind": "order", "of": ["go/std", "go/other"]}, run).ruling is not HOLDS


@pytest.mark.parametrize(("margin", "expected"), [(0.5, HOLDS), (0.1, CONTRADICTED), (0.3, UNDECIDED)])
def test_an_equality_allows_its_margin_either_way(margin: float, expected: Ruling) -> None:
    for of, to in (("rust/std", "go/std"), ("go/std", "rust/std")):
        assert verdict_on({"kind": "equality", "of": of, "to": to, "margin": margin}).ruling is expected


@pytest.mark.parametrize(
    ("event", "limit", "expected"),
    [
        ("dies", 30.0, HOLDS),
        ("dies", 60.0, CONTRADICTED),
        ("dies", 40.0, UNDECIDED),
        ("lives", 60.0, HOLDS),
        ("lives", 30.0, CONTRADICTED),
        ("keeps-rate", 110.0, HOLDS),
        ("keeps-rate", 60.0, CONTRADICTED),
    ],
)
def test_a_memory_limit_is_read_from_the_floor(event: str, limit: float, expected: Ruling) -> None:
    run = add_floor(sound_run(), "go/std", lives_mib=42, passes_mib=80)
    ruling = ruled({"test": {"kind": "event", "event": event, "of": ["go/std"], "limit": limit, "unit": "MiB"}}, run)
    assert ruling.ruling is expected
    assert ruling.measurements[0].happened == {HOLDS: True, CONTRADICTED: False, UNDECIDED: None}[expected]


@pytest.mark.parametrize(
    ("limit", "expected", "share"),
    [
        (30.0, HOLDS, 0.98),
        (50.0, HOLDS, 0.98),
        (100.0, CONTRADICTED, 0.5),
        (220.0, Ruling.NOT_MEASURED, None),
        (300.0, CONTRADICTED, 0.75),
    ],
)
def test_a_limit_is_filled_or_not(limit: float, expected: Ruling, share: float | None) -> None:
    run = add_floor(sound_run(), "go/std", lives_mib=50, passes_mib=80)
    sample = run.samples[-1]
    tries = [(40, None), (50, 49), (128, 64), (200, 70)]
    sample.evidence = FloorEvidence(
        share=0.9,
        unlimited_rates=[1.0],
        unlimited_peak=225 << 20,
        tries=[
            FloorTry(limit=tried << 20, lives=peak is not None, passes=tried >= 80, peak=peak and peak << 20)
            for tried, peak in tries
        ],
    )
    ruling = ruled({"test": {"kind": "event", "event": "fills", "of": ["go/std"], "limit": limit, "unit": "MiB"}}, run)
    assert (ruling.ruling, ruling.measurements[0].value) == (expected, share and pytest.approx(share))


def test_a_limit_that_a_suspect_search_saw_filled_decides_nothing() -> None:
    run = add_floor(sound_run(), "go/std", lives_mib=50, passes_mib=80)
    tries = [FloorTry(limit=50 << 20, lives=True, passes=False, peak=50 << 20)]
    run.samples[-1].evidence = FloorEvidence(share=0.9, unlimited_rates=[1.0], tries=tries)
    judged = judge(run)
    for estimate in judged.estimates:
        if estimate.figure == "floor_lives":
            estimate.verdict, estimate.reason = Verdict.SUSPECT, "a neighbour had the memory"
    judged.findings.append(
        Finding(
            code="c",
            severity=Severity.SUSPECT,
            statement="a neighbour had the memory",
            next_step="",
            sample=run.samples[-1].id,
        )
    )
    test = {"kind": "event", "event": "fills", "of": ["go/std"], "limit": 50.0, "unit": "MiB"}
    (ruling,) = judge_claims(claims({"test": test}), [RunWithJudgement(run, judged)], obstacle=no_obstacle).claims
    assert ruling.ruling is UNDECIDED
    assert "a neighbour had the memory" in ruling.reason
    (measurement,) = ruling.measurements
    assert (measurement.leaning, measurement.happened) == (HOLDS, None)


def test_a_floor_that_nobody_watched_does_not_say_what_was_filled() -> None:
    run = add_floor(sound_run(), "go/std", lives_mib=42, passes_mib=80)
    test = {"kind": "event", "event": "fills", "of": ["go/std"], "limit": 80.0, "unit": "MiB"}
    ruling = ruled({"test": test}, run)
    assert ruling.ruling is Ruling.NOT_MEASURED
    assert "80 MiB" in ruling.reason


def test_a_finding_happens_or_does_not() -> None:
    test = {"kind": "event", "event": "finding", "of": ["go/std"], "findings": ["errors-above-allowance"]}
    sound, failing = sound_run(), sound_run()
    for sample in failing.samples:
        if sample.contender == "go/std" and sample.result:
            ended(sample.result, wrong_status=sample.result.counts.sent // 2)
    assert ruled({"load": "lookup", "test": test}, sound).ruling is CONTRADICTED
    assert ruled({"load": "lookup", "test": test | {"occurs": False}}, sound).ruling is HOLDS
    assert ruled({"load": "lookup", "test": test}, failing).ruling is HOLDS
    assert ruled({"load": "lookup", "test": test | {"occurs": False}}, failing).ruling is CONTRADICTED


def test_a_size_is_exact_and_needs_no_rounds() -> None:
    test = {"kind": "ratio", "of": "rust/std", "to": "go/std", "at_least": 1.0, "at_most": 1.0}
    ruling = ruled({"figure": "artifact_bytes", "test": test})
    assert ruling.ruling is HOLDS
    assert ruling.measurements[0].low == ruling.measurements[0].high == 1.0


@pytest.mark.parametrize(("at_most", "expected"), [(40.0, HOLDS), (5.0, CONTRADICTED), (16.0, UNDECIDED)])
def test_what_was_measured_once_decides_only_far_from_the_bound(at_most: float, expected: Ruling) -> None:
    test = {"kind": "value", "of": ["go/std"], "at_most": at_most, "unit": "s"}
    ruling = ruled({"figure": "build_cold", "test": test})
    assert ruling.ruling is expected
    assert ruling.measurements[0].low is None
    assert "measured once" in ruling.reason


def test_loads_and_quantities_may_differ_between_the_terms() -> None:
    test = {
        "kind": "ratio",
        "of": {"contender": "go/std", "figure": "boot_later_starts"},
        "to": {"contender": "go/std", "figure": "boot_first_start"},
        "at_least": 0.5,
    }
    ruling = ruled({"test": test})
    assert ruling.measurements[0].value is not None
    assert 0.7 < ruling.measurements[0].value < 1.4


def test_littles_law_puts_every_connection_of_a_closed_loop_under_way() -> None:
    test = {"kind": "value", "of": ["go/std"], "at_least": 90.0, "at_most": 110.0, "unit": "%"}
    ruling = ruled({"figure": "in_flight_share", "load": "lookup", "test": test})
    assert ruling.ruling is HOLDS
