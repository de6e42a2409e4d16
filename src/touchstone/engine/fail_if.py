"""Conditions under which a load has failed: `errors > 1%`, `p99 > 20ms`, `rate < 1000`."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.failure import UsageError
from touchstone.manifest.condition import STREAM_TIMES, Condition, ConditionError, parse_condition
from touchstone.record.engine import LoadResult


def failed_share(result: LoadResult) -> float:
    """The share of the requests sent that got no correct response; 1 if none was sent."""
    return result.counts.error_share if result.counts.sent else 1.0


def measured(result: LoadResult, quantity: str) -> float | None:
    """What a load gave of a quantity that conditions name; None if it was not measured."""
    if quantity == "errors":
        return failed_share(result)
    if quantity == "rate":
        return result.rate.achieved
    if quantity in STREAM_TIMES:
        place, share = STREAM_TIMES[quantity]
        time: float | None = getattr(getattr(result.events, place, None), share, None)
        return time
    value: float | None = getattr(result.latency, quantity.replace(".", "_"))
    return value


@dataclass(frozen=True)
class FailIf:
    """One condition, as it was written."""

    condition: Condition

    def breach(self, result: LoadResult) -> str | None:
        """What was found, if the condition holds. A quantity that was not measured is a breach: nobody can say."""
        text, quantity = self.condition.text, self.condition.quantity
        value = measured(result, quantity)
        if value is None:
            return f"{text}: {quantity} was not measured"
        return f"{text}: {shown(quantity, value)}" if self.condition.holds(value) else None


def parse_fail_if(text: str) -> FailIf:
    """Read a condition. Raises UsageError that says how to write one."""
    try:
        return FailIf(parse_condition(text))
    except ConditionError as error:
        raise UsageError(error.what, fix=error.fix) from error


def shown(quantity: str, value: float) -> str:
    """A value of a quantity, for people."""
    if quantity == "errors":
        return f"{value:.2%}"
    if quantity == "rate":
        return f"{value:,.0f}/s"
    milliseconds = value * 1e3
    return f"{milliseconds:,.0f} ms" if milliseconds >= 100 else f"{milliseconds:.3g} ms"
