"""Conditions under which a load has failed: `errors > 1%`, `p99 > 20ms`, `rate < 1000`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from touchstone.failure import UsageError
from touchstone.record.engine import LoadResult

_TEXT = re.compile(r"\s*([a-z0-9.]+)\s*(<=|>=|<|>)\s*([0-9]+(?:\.[0-9]+)?)\s*(%|us|ms|s|k|M)?(?:/s)?\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_UNITS = {"%": 0.01, "us": 1e-6, "ms": 1e-3, "s": 1.0, "k": 1e3, "M": 1e6}
_SHARES, _TIMES = {"%"}, {"us", "ms", "s"}


def _latency(name: str) -> Callable[[LoadResult], float | None]:
    field = name.replace(".", "_")
    return lambda result: getattr(result.latency, field)


def failed_share(result: LoadResult) -> float:
    """The share of the requests that got no correct response; 1 if there was no request."""
    failed = result.counts.errors.total + result.counts.unanswered
    whole = result.counts.ok + failed
    return failed / whole if whole else 1.0


_QUANTITIES: dict[str, Callable[[LoadResult], float | None]] = {
    "errors": failed_share,
    "rate": lambda result: result.rate.achieved,
    **{name: _latency(name) for name in ("p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max", "mean")},
}


@dataclass(frozen=True)
class FailIf:
    """One condition, as it was written."""

    text: str
    quantity: str
    than: str
    bound: float

    def breach(self, result: LoadResult) -> str | None:
        """What was found, if the condition holds. A quantity that was not measured is a breach: nobody can say."""
        value = _QUANTITIES[self.quantity](result)
        if value is None:
            return f"{self.text}: {self.quantity} was not measured"
        return f"{self.text}: {_shown(self.quantity, value)}" if _COMPARE[self.than](value, self.bound) else None


def parse_fail_if(text: str) -> FailIf:
    """Read a condition. Raises UsageError that says how to write one."""
    match = _TEXT.fullmatch(text)
    if match is None or match[1] not in _QUANTITIES:
        raise UsageError(f"{text!r} is no condition", mend=f"write it like 'p99 > 20ms'; of: {', '.join(_QUANTITIES)}")
    quantity, than, number, unit = match.groups()
    fitting = _SHARES if quantity == "errors" else {"k", "M", None} if quantity == "rate" else _TIMES
    if unit not in fitting and not (quantity == "errors" and unit is None):
        wanted = {"errors": "a share, such as 1%", "rate": "a rate, such as 1000 or 20k"}.get(quantity, "a time: 20ms")
        raise UsageError(f"{text!r}: {quantity} is held against {wanted}", mend="give the bound its unit")
    return FailIf(text.strip(), quantity, than, float(number) * _UNITS.get(unit or "", 1.0))


def _shown(quantity: str, value: float) -> str:
    if quantity == "errors":
        return f"{value:.2%}"
    return f"{value:,.0f}/s" if quantity == "rate" else f"{value * 1e3:.3g} ms"
