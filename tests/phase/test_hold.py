"""Memory per connection is a slope over levels that were reached, never a quotient, never extrapolated."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from touchstone.phase.hold.phase import keep_levels, server_processes, slope_of
from touchstone.record.hold_result import HoldLevel, HoldMemory, HoldReading, HoldResult
from touchstone.record.sample import Sample


def level(connections: int, rss: int, **more: Any) -> HoldLevel:
    server = {"rss": rss, "anon": rss // 2, "vm_peak": rss * 3}
    kernel = {"slabs": {"TCP": connections * 4000}, "tcp_buffers": connections * 200}
    reading = {"server": server, "kernel": kernel}
    return HoldLevel.model_validate({
        "connections": connections, "held": connections, "answered": connections, "failed": {}, "lost": {},
        "open_rate": 1000.0, "idle": reading, "refused": None, **more,
    })  # fmt: skip


def sample() -> Sample:
    return Sample(id="1", phase="hold", scenario="hello", contender="a/b", started_at=datetime.now(UTC))


def test_slopes_leave_the_base_out() -> None:
    taken = sample()
    levels = [level(n, 5_000_000 + 96 * n) for n in (0, 1000, 5000)]
    keep_levels(HoldResult(levels=levels, after_close=HoldReading(server=HoldMemory(rss=5_048_000))), taken)
    assert taken.figures["hold_rss_per_connection"] == pytest.approx(96)
    assert taken.figures["hold_anon_per_connection"] == pytest.approx(48)
    assert taken.figures["hold_kernel_per_connection"] == pytest.approx(2100)
    assert taken.figures["hold_rss_base"] == 5_000_000
    assert taken.figures["hold_given_back"] == pytest.approx(0.9)
    assert taken.figures["hold_connections"] == 5000


def test_a_refused_level_is_said_and_not_counted() -> None:
    taken = sample()
    refused = level(10**6, 0, refused={"reason": "the machine has not enough memory"}, idle=None)
    keep_levels(HoldResult(levels=[level(0, 100), level(1000, 1100), refused]), taken)
    assert taken.figures["hold_connections"] == 1000
    assert taken.hold is not None
    assert "memory" in taken.hold.refused[0].reason


def test_nothing_reached_is_a_failure_and_no_figure() -> None:
    taken = sample()
    keep_levels(HoldResult(levels=[]), taken)
    assert taken.failure
    assert not taken.figures


def test_a_gap_in_the_readings_gives_no_slope() -> None:
    assert slope_of([0, 10], [1.0, None]) is None
    assert slope_of([10], [1.0]) is None


def test_more_connections_than_one_process_may_open_take_more_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _which: (20_000, 20_000))
    assert server_processes(19_000) == 1
    assert server_processes(500_000) == 27


def test_under_traffic_the_readings_under_traffic_count() -> None:
    taken = sample()
    busy = {"server": {"rss": 9_000}, "kernel": {"slabs": {}, "slab": 0, "tcp_buffers": 0}}
    keep_levels(
        HoldResult(levels=[level(0, 1_000), level(1000, 2_000, traffic={"requests": 900, "ok": 900, "reading": busy})]),
        taken,
    )
    assert taken.figures["hold_rss_per_connection"] == pytest.approx(8)
