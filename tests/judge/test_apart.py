"""Which of several contenders is the odd one."""

from __future__ import annotations

import pytest

from touchstone.judge.reading.unequal_pair import UnequalPair, minority, unequal_pairs


def far(low: float, high: float) -> bool:
    return high - low > 10


@pytest.mark.parametrize(
    "values,expected",
    [
        ({}, []),
        ({"a": 1}, []),
        ({"a": 1, "b": 11, "c": 5}, []),
        ({"a": 1, "b": 12}, [UnequalPair("a", "b", None)]),
        ({"a": 1, "b": 2, "c": 30}, [UnequalPair("b", "c", "c")]),
        ({"a": 40, "b": 2, "c": 41}, [UnequalPair("b", "a", "b")]),
        ({"a": 1, "b": 20, "c": 40}, [UnequalPair("a", "c", None)]),
        ({"a": 20, "b": 21, "c": 22, "d": 0, "e": 60}, [UnequalPair("d", "b", "d"), UnequalPair("b", "e", "e")]),
        ({"a": 1, "b": 1, "c": 30, "d": 30}, [UnequalPair("a", "d", None)]),
    ],
)
def test_who_is_apart(values: dict[str, float], expected: list[UnequalPair]) -> None:
    assert unequal_pairs(values, far) == expected


@pytest.mark.parametrize(
    "values,expected",
    [
        ({}, []),
        ({"a": "on", "b": "on"}, []),
        ({"a": "on", "b": "off"}, [None]),
        ({"a": "on", "b": "off", "c": "on"}, ["b"]),
        ({"a": "1", "b": "2", "c": "3"}, [None]),
        ({"a": "1", "b": "2", "c": "3", "d": "3", "e": "3"}, ["a", "b"]),
    ],
)
def test_who_has_another_value_than_most(values: dict[str, str], expected: list[str | None]) -> None:
    assert minority(values) == expected
