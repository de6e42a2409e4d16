"""Throughput over time: on each contender's own clock."""

from __future__ import annotations

import pytest

from tests.judge.slices import SLICE_S, sliced_run
from touchstone.report.plots import warmup


def test_the_others_turns_do_not_lower_a_rate() -> None:
    run = sliced_run({"go/std": 20_000.0, "rust/std": 10_000.0}, noise=0.0, laps=4)
    sample = next(one for one in run.samples if one.contender == "rust/std" and one.slices is not None)
    points = warmup.points_of(sample)
    assert [x for x, _ in points] == pytest.approx([SLICE_S * lap for lap in range(1, 5)])
    assert [y for _, y in points] == pytest.approx([10_000.0] * 4, rel=0.01)
