"""A latency distribution as bars for the terminal, on a logarithmic axis: tails are as wide as the middle."""

from __future__ import annotations

import math
from itertools import pairwise

from touchstone.record.distribution import Distribution

_ROWS = 16
_WIDTH = 50


def latency_bars(latency: Distribution) -> str:
    """One row a range of latencies, with the share of the requests within it. Read from the percentile curve."""
    points = [(min(1.0, max(0.0, share)), value) for share, value in latency.curve if value > 0]
    if len(points) < 2 or not latency.count:
        return "  no latencies were recorded"
    low, high = points[0][1], max(points[-1][1], points[0][1] * 1.01)
    edges = [low * (high / low) ** (row / _ROWS) for row in range(_ROWS + 1)]
    below = [_share_below(points, edge) for edge in edges]
    below[0], below[-1] = 0.0, 1.0
    shares = [max(0.0, after - before) for before, after in pairwise(below)]
    largest = max(shares)
    lines = [f"  {'up to':>9}  {'share':>7}  of {latency.count:,} requests"]
    for edge, share in zip(edges[1:], shares, strict=True):
        # The least that is there is seen: a single request in the tail is what one looks for.
        bar = "#" * max(math.ceil(share / largest * _WIDTH), 0)
        lines.append(f"  {_time(edge):>9}  {share:>7.2%}  {bar}")
    return "\n".join(lines)


def _share_below(points: list[tuple[float, float]], edge: float) -> float:
    found = 0.0
    for share, value in points:
        if value > edge:
            break
        found = share
    return found


def _time(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
