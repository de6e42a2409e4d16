"""The time to peak counts from exec to the beginning of the level that is kept; without such a level there is none."""

from __future__ import annotations

import pytest

from touchstone.judge.judge import judge
from touchstone.judge.judgement import Severity, Verdict
from touchstone.judge.reading.peak import peak_of
from touchstone.record.engine import Point

from .peaks import peak_run, peak_sample, rates
from .sound import ended


def test_a_native_program_is_at_its_peak_when_the_load_begins() -> None:
    peak = peak_of(peak_sample("go/plain", 1, rates((20, 9000)), begins=0.02), 0.05)
    assert peak is not None
    assert peak.shape == "flat"
    assert peak.time_s == pytest.approx(0.02)
    assert peak.rate == pytest.approx(9000, rel=0.02)


def test_a_jit_reaches_it_at_the_last_change() -> None:
    slow = rates((2, 500), (4, 3000), (6, 7000), (28, 10_000))
    peak = peak_of(peak_sample("kotlin/jvm", 1, slow, begins=0.8), 0.05)
    assert peak is not None
    assert peak.shape == "warm-up"
    assert peak.time_s == pytest.approx(12.8, abs=1.6)
    assert peak.rate == pytest.approx(10_000, rel=0.02)


def test_a_level_within_the_margin_of_the_peak_is_the_peak() -> None:
    peak = peak_of(peak_sample("kotlin/jvm", 1, rates((5, 2000), (15, 9700), (20, 10_000))), 0.05)
    assert peak is not None
    assert peak.time_s == pytest.approx(5, abs=1.6)


def test_a_rate_that_still_rises_has_no_peak_and_no_figure() -> None:
    sample = peak_sample("kotlin/jvm", 1, rates((20, 5000), (16, 8000), (4, 10_000)))
    peak = peak_of(sample, 0.05)
    assert peak is not None
    assert peak.time_s is None
    assert peak.rate is None


def test_an_interval_that_the_end_cut_short_is_no_fall() -> None:
    sample = peak_sample("go/plain", 1, rates((20, 9000)))
    assert sample.result is not None
    sample.result.series.append(Point(t=20.05, ok=10))
    peak = peak_of(sample, 0.05)
    assert peak is not None
    assert peak.shape == "flat"


def test_sound_starts_have_no_finding_but_notes() -> None:
    fast = [peak_sample("go/plain", r, rates((30, 9000)), 0.02) for r in range(1, 6)]
    slow = [peak_sample("kotlin/jvm", r, rates((5, 2000), (25, 9000)), 0.8) for r in range(1, 6)]
    judgement = judge(peak_run({"go/plain": fast, "kotlin/jvm": slow}))
    heavy = {f.code for f in judgement.findings if f.severity is not Severity.NOTE}
    assert heavy == set()
    figures = {(e.contender, e.figure): e for e in judgement.estimates if e.phase == "peak"}
    assert figures["kotlin/jvm", "peak_time"].median == pytest.approx(5.8, abs=1.6)
    assert figures["kotlin/jvm", "peak_time"].verdict is Verdict.VALID
    compared = next(c for c in judgement.comparisons if c.figure == "peak_rate")
    assert compared.outcome == "equivalent"


def test_wrong_bodies_in_the_first_seconds_spoil_the_start() -> None:
    starts = [peak_sample("go/plain", r, rates((30, 9000))) for r in range(1, 6)]
    for sample in starts:
        assert sample.result is not None
        ended(sample.result, wrong_body=40)
    judgement = judge(peak_run({"go/plain": starts}))
    assert {f.code for f in judgement.findings} >= {"wrong-bodies", "errors-above-allowance"}
    served = next(e for e in judgement.estimates if e.figure == "peak_served")
    assert served.verdict is Verdict.INVALID
