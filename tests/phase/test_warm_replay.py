"""The rule of when a contender is warm, on recorded warm-ups: five rounds of a JVM, Go and Rust on two CPUs."""

from __future__ import annotations

import statistics
from functools import cache

import pytest
from benchmarks.calibration.warm import Replay, replays

from tests.golden.golden import recorded_run


@cache
def recorded(contender: str, *, blind: bool = False) -> list[Replay]:
    return [one for name, one in replays(recorded_run("users"), blind=blind) if name == contender]


@pytest.mark.parametrize("contender", ["go/plain", "rust/plain"])
def test_a_native_program_is_warm_in_seconds(contender: str) -> None:
    found = recorded(contender)
    assert len(found) == 5
    assert sum(one.seconds for one in found) <= sum(one.recorded_s for one in found)
    assert abs(statistics.median(one.above or 0.0 for one in found)) < 0.05


def test_a_jvm_that_nobody_saw_rest_is_not_taken_for_warm_while_it_stands_still() -> None:
    sound, blind = recorded("kotlin-http4k/jvm"), recorded("kotlin-http4k/jvm", blind=True)
    assert not any(one.seen for one in blind)
    assert max(one.above or 0.0 for one in blind) > 0.3
    assert max(one.above or 0.0 for one in sound) < 0.1
