"""The distance of two clocks is within the doubt that is stated, whatever the way back and forth takes."""

from __future__ import annotations

import random
import time

from touchstone.cluster.clocks import clock_distance


def test_the_truth_lies_within_the_residual_however_lopsided_the_way() -> None:
    dice = random.Random(7)

    def there() -> float:
        time.sleep(dice.uniform(0, 0.001))
        said = time.monotonic() + 123.456
        time.sleep(dice.uniform(0, 0.001))
        return said

    found = clock_distance(there, trips=30)
    assert abs(found.ahead_s - 123.456) <= found.residual_s


def test_the_fastest_of_many_trips_counts() -> None:
    slow = iter([0.2, 0.2, 0.0, 0.2])

    def there() -> float:
        time.sleep(next(slow))
        return time.monotonic()

    assert clock_distance(there, trips=4).residual_s < 0.1
