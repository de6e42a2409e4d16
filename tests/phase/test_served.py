"""What was served by each second since exec, read from a series that counts from the load's begin."""

from __future__ import annotations

from touchstone.phase.peak.served import peak_figures, served_by_second
from touchstone.record.engine import Point


def series(rate: float, seconds: float, interval: float = 0.1) -> list[Point]:
    count = round(seconds / interval)
    return [Point(t=(i + 1) * interval, ok=round(rate * interval)) for i in range(count)]


def test_the_seconds_are_those_since_exec_and_not_the_loads() -> None:
    served = served_by_second(series(1000, 5), load_begins_s=1.3, within_s=5)
    assert served == [0, 700, 1700, 2700, 3700]


def test_what_came_after_the_end_is_not_counted() -> None:
    points = [*series(1000, 2), Point(t=2.1, phase="drain", ok=50)]
    assert served_by_second(points, 0.0, 3) == [1000, 2000, 2000]


def test_nothing_served_is_zero_and_not_an_error() -> None:
    assert served_by_second([], 0.5, 2) == [0, 0]


def test_a_watch_of_less_than_ten_seconds_has_no_figure_for_ten() -> None:
    assert peak_figures([5, 9]) == {"peak_served_1s": 5, "peak_served": 9}
    assert peak_figures(list(range(1, 21)))["peak_served_10s"] == 10
