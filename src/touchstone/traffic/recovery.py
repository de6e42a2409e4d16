"""When a load is served again as it was before a burst or a fault."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.record.engine import Point

_STRETCH_S = 1.0
_SHARE = 0.95
"""A service has recovered once it gives, for a second, this share of the requests right answers within the bound on
latency."""


def recovery(series: Sequence[Point], calm_from_s: float, bound_s: float, interval_s: float) -> float | None:
    """Seconds from the end of a burst or fault until answers are right and in time.

    They have to be so for a second. None if they never are.

    Args:
        series: intervals of the load, `t` their ends in seconds from its beginning.
        calm_from_s: when the burst or fault ended.
        bound_s: the latency until which an answer is in time.
        interval_s: the length of an interval.

    """
    load = [point for point in series if point.phase == "load"]
    count = round(_STRETCH_S / interval_s)
    for first in range(1, len(load) - count + 1):
        stretch = load[first : first + count]
        if stretch[0].t <= calm_from_s + interval_s / 2:
            continue
        in_time = [point for point in stretch if point.p99 is None or point.p99 <= bound_s]
        due = sum(point.sent for point in stretch) + stretch[-1].queue - load[first - 1].queue
        begins = stretch[0] in in_time and not stretch[0].errors
        if begins and due > 0 and sum(point.ok for point in in_time) >= _SHARE * due:
            return max(0.0, round(stretch[0].t - interval_s - calm_from_s, 3))
    return None
