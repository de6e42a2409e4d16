import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.judge.statistics.sequential import confidence_after, confidence_at_look, look_rounds


@given(st.integers(1, 200))
def test_looks_grow_and_end_at_the_most(most: int) -> None:
    looks = look_rounds(most)
    assert looks == sorted(set(looks))
    assert looks[-1] == most


@given(st.integers(1, 30), st.floats(0.5, 0.99))
def test_all_looks_together_spend_the_error_once(looks: int, confidence: float) -> None:
    spent = sum(1 - confidence_at_look(look, looks, confidence) for look in range(1, looks + 1))
    assert spent == pytest.approx(1 - confidence)


def test_there_is_nothing_to_see_between_looks() -> None:
    assert confidence_after(6, 20, 0.95) is None
    assert confidence_after(20, 20, 0.95) == pytest.approx(0.975)


def test_a_look_that_is_none() -> None:
    with pytest.raises(ValueError, match="look 3"):
        confidence_at_look(3, 2, 0.95)
