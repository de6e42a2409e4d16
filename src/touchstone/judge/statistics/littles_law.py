"""Little's law, for the judge's rule and for the audit of published results."""

from __future__ import annotations

from dataclasses import dataclass

OFF = 0.10
"""The share by which the product may miss the number of slots. The law is exact; a load generator's own time between an
answer and the next request is below this unless it is saturated, and published means have two or three digits."""


@dataclass(frozen=True)
class RequestsInFlight:
    """The mean number of requests in flight, against the number that can be."""

    requests: float
    """Rate times mean latency (Little 1961)."""
    slots: float

    @property
    def above(self) -> float:
        """The share by which there are more requests than slots; negative if there are fewer."""
        return self.requests / self.slots - 1

    @property
    def below(self) -> float:
        """The share of the slots that was not used: a closed loop uses them all."""
        return 1 - self.requests / self.slots


def requests_in_flight(rate: float, mean_s: float, slots: float) -> RequestsInFlight:
    """Mean requests in flight at a rate per second and a mean latency in seconds."""
    return RequestsInFlight(rate * mean_s, slots)
