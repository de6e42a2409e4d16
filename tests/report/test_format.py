from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.report.format import (
    NOTHING,
    decimals_for,
    duration,
    interval,
    plural,
    quantity,
    ratio,
    ratio_interval,
    scale_for,
)
from touchstone.vocabulary.figure import Unit


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, Unit.SECONDS, "12.3 ms"),
        (0.0000071, Unit.SECONDS, "7.10 µs"),
        (21.34, Unit.SECONDS, "21.3 s"),
        (0.0000000042, Unit.SECONDS, "4.20 ns"),
        (1_048_576, Unit.BYTES, "1.00 MiB"),
        (1_536, Unit.BYTES, "1.50 KiB"),
        (12, Unit.BYTES, "12 B"),
        (3_584, Unit.BYTES, "3.50 KiB"),
        (25_202_073_600, Unit.BYTES, "23.5 GiB"),
        (12_345.0, Unit.PER_SECOND, "12.3 k/s"),
        (215.0, Unit.PER_SECOND, "215 /s"),
        (0.979, Unit.SHARE, "97.9 %"),
        (0.00002, Unit.SHARE, "0.00200 %"),
        (500_850, Unit.COUNT, "500,850"),
        (0.0, Unit.SECONDS, "0 s"),
        (0.0, Unit.BYTES, "0 B"),
    ],
)
def test_a_value_is_scaled_to_a_unit_that_people_read(value: float, unit: Unit, text: str) -> None:
    assert quantity(value, unit) == text


def test_what_is_not_there_is_never_zero() -> None:
    assert quantity(None, Unit.SECONDS) == NOTHING
    assert ratio(None) == NOTHING


def test_a_narrow_interval_brings_more_digits() -> None:
    scale = scale_for([11_850.0], Unit.PER_SECOND)
    wide = decimals_for(11_850.0, scale, 10_000.0, 13_000.0)
    narrow = decimals_for(11_850.0, scale, 11_845.0, 11_855.0)
    assert scale.text(11_850.0, wide) == "11.8 k/s" or scale.text(11_850.0, wide) == "11.9 k/s"
    assert interval(11_845.0, 11_855.0, scale, narrow) == "11.845 to 11.855"


def test_an_interval_is_empty_where_there_is_none() -> None:
    scale = scale_for([1.0], Unit.SECONDS)
    assert interval(None, None, scale, 2) == ""
    assert ratio_interval(None, 1.0) == ""


@given(st.floats(min_value=1e-9, max_value=1e6), st.sampled_from([Unit.SECONDS, Unit.PER_SECOND, Unit.BYTES]))
def test_a_scaled_number_keeps_the_value_within_its_last_digit(value: float, unit: Unit) -> None:
    if unit is not Unit.SECONDS:
        value *= 1e3
    scale = scale_for([value], unit)
    decimals = decimals_for(value, scale)
    shown = float(scale.number(value, decimals).replace(",", "")) * scale.factor
    assert shown == pytest.approx(value, rel=0.051 if value / scale.factor < 1 else 0.0051)


def test_small_words() -> None:
    assert [duration(8), duration(687), duration(7_500)] == ["8 s", "11 min 27 s", "2 h 5 min"]
    assert [plural(1, "round"), plural(5, "round")] == ["1 round", "5 rounds"]
    assert [ratio(1.4213), ratio(0.0123), ratio(119.4), ratio(12.04)] == ["1.42×", "0.012×", "119×", "12.0×"]  # noqa: RUF001
