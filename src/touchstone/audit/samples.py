"""What a file with a line for each request says of its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MARKS = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
_STEPS = 20
"""A run must last this number of time stamp steps; otherwise its length and rate are guesses."""


@dataclass
class Samples:
    """Requests as a tool recorded them, one by one."""

    step_s: float = 0.0
    """The step of the time stamps."""
    times: list[float] = field(default_factory=list)
    """Latencies in seconds, of what got a response."""
    begin: float | None = None
    end: float | None = None
    errors: int = 0
    unanswered: int = 0

    def add(self, start: float | None, latency_s: float, *, right: bool, answered: bool = True) -> None:
        """Add a request, with the seconds at which it was sent, if the file has them."""
        if start is not None:
            self.begin = start if self.begin is None else min(self.begin, start)
            self.end = start + latency_s if self.end is None else max(self.end, start + latency_s)
        if not answered:
            self.unanswered += 1
            return
        self.errors += not right
        self.times.append(latency_s)

    @property
    def figures(self) -> dict[str, Any]:
        """The fields of a published result that they give."""
        window = self.end - self.begin if self.begin is not None and self.end is not None else 0.0
        duration = window if window > _STEPS * self.step_s and window > 0 else None
        times = np.array(self.times)
        with np.errstate(all="ignore"):  # What is not finite is found by the checks.
            marks = dict(zip(_MARKS, map(float, np.quantile(times, _MARKS)), strict=True)) if len(times) else {}
        return {
            "rate": len(times) / duration if duration else (None if len(times) else 0.0),
            "duration_s": duration,
            "answered": len(times),
            "errors": self.errors,
            "unanswered": self.unanswered,
            "errors_in_rate": True,
            "mean_s": float(times.mean()) if len(times) else None,
            "percentiles": marks,
            "min_s": float(times.min()) if len(times) else None,
            "max_s": float(times.max()) if len(times) else None,
        }


def summed(pairs: Iterable[tuple[str, int | None]]) -> tuple[int, int]:
    """Responses that were right and that were errors, of counts by status. Raises IndexError for an empty status."""
    counted = [(status, count or 0) for status, count in pairs]
    good = sum(count for status, count in counted if status[0] in "23")
    return good, sum(count for _, count in counted) - good
