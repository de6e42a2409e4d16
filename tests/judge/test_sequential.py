from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.judge.statistics.sequential import confidence_of_look, look_rounds


@given(st.integers(1, 200))
def test_looks_grow_and_end_at_the_most(most: int) -> None:
    looks = look_rounds(most)
    assert looks == sorted(set(looks))
    assert looks[-1] == most


@given(st.lists(st.integers(1, 999), unique=True, max_size=30), st.floats(0.5, 0.99))
def test_all_looks_together_spend_the_error_once(used: list[int], confidence: float) -> None:
    shares = [0.0, *(one / 1000 for one in sorted(used)), 1.0]
    spent = sum(1 - confidence_of_look(before, now, confidence) for before, now in pairwise(shares))
    assert spent == pytest.approx(1 - confidence)


@pytest.mark.parametrize(("before", "now"), [(0.5, 0.5), (0.5, 0.2), (0.5, 1.1), (-0.1, 0.5)])
def test_a_look_that_is_none(before: float, now: float) -> None:
    with pytest.raises(ValueError, match="of the budget"):
        confidence_of_look(before, now, 0.95)
