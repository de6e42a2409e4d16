"""Ticks leave each other room."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from touchstone.report.plots.canvas import text_width
from touchstone.report.plots.ticks import spaced

POWERS = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]


def text(tick: float) -> str:
    return f"{tick:.3g}x"


@pytest.mark.parametrize("octave", [200.0, 40.0, 31.0, 15.0, 1.0])
def test_no_text_touches_the_next_and_1_stays(octave: float) -> None:
    found = spaced(POWERS, 1, lambda tick: math.log2(tick) * octave, text)
    assert 1.0 in found
    for left, right in pairwise(found):
        apart = (math.log2(right) - math.log2(left)) * octave
        assert apart > (text_width(text(left)) + text_width(text(right))) / 2


def test_ticks_that_have_room_all_stay() -> None:
    assert spaced(POWERS, 1, lambda tick: math.log2(tick) * 100, text) == POWERS
