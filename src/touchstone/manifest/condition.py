"""Conditions on what a load gave, as people write them: `errors > 1%`, `p99 < 20ms`, `rate < 1000`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

PERCENTILES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
"""The percentiles that may be named, as quantiles."""
TIMES = (*PERCENTILES, "max", "mean")
STREAM_TIMES: dict[str, tuple[str, str]] = {
    f"{name}_{share}": (place, share)
    for name, place, shares in (
        ("first_event", "first", ("p50", "p99")),
        ("event_gap", "gap", ("p50", "p99", "max")),
        ("event_delay", "delay", ("p50", "p99")),
    )
    for share in shares
}
"""Times of events of streams, by the names of their figures: the distribution in a result, and the value in it."""
ALL_TIMES = (*TIMES, *STREAM_TIMES)
QUANTITIES = ("errors", "rate", *ALL_TIMES)

_TEXT = re.compile(r"\s*([a-z0-9._]+)\s*(<=|>=|<|>)\s*([0-9]+(?:\.[0-9]+)?)\s*(%|us|ms|s|k|M)?(?:/s)?\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_UNITS = {"%": 0.01, "us": 1e-6, "ms": 1e-3, "s": 1.0, "k": 1e3, "M": 1e6}
_SHARES, _TIME_UNITS = {"%", None}, {"us", "ms", "s"}


class ConditionError(ValueError):
    """A text that is neither a condition nor an objective: what is wrong with it, and how to write it."""

    def __init__(self, what: str, fix: str) -> None:
        self.what, self.fix = what, fix
        super().__init__(f"{what}: {fix}")


@dataclass(frozen=True)
class Condition:
    """One condition, as it was written. The bound in seconds, requests per second, or as a share."""

    text: str
    quantity: str
    """One of `QUANTITIES`."""
    than: str
    bound: float

    def holds(self, value: float) -> bool:
        """Whether it holds for a value in the bound's unit."""
        return _COMPARE[self.than](value, self.bound)


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises ConditionError."""
    match = _TEXT.fullmatch(text)
    if match is None or match[1] not in QUANTITIES:
        raise ConditionError(
            f"{text.strip()!r} is not a condition", f"write it like 'p99 > 20ms'; of: {', '.join(QUANTITIES)}"
        )
    quantity, than, number, unit = match.groups()
    fitting = _SHARES if quantity == "errors" else {"k", "M", None} if quantity == "rate" else _TIME_UNITS
    if unit not in fitting:
        wanted = {"errors": "a share, such as 1%", "rate": "a rate, such as 1000 or 20k"}.get(quantity, "a time: 20ms")
        raise ConditionError(f"{text.strip()!r}: {quantity} is held against {wanted}", "give the bound its unit")
    return Condition(text.strip(), quantity, than, float(number) * _UNITS.get(unit or "", 1.0))
