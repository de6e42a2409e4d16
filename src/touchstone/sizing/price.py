"""What a container costs, by the user's own prices: arithmetic only."""

from __future__ import annotations

from dataclasses import dataclass

_GIB = 2**30
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Prices:
    """In any currency, per hour."""

    cpu_hour: float = 0.0
    gib_hour: float = 0.0

    @property
    def given(self) -> bool:
        """Whether there is anything to reckon with."""
        return self.cpu_hour > 0 or self.gib_hour > 0

    def per_hour(self, cpus: float, memory: float | None) -> float:
        """Price of a container with these CPUs and bytes; unknown memory costs nothing."""
        return cpus * self.cpu_hour + (memory or 0.0) / _GIB * self.gib_hour

    def per_million(self, cpus: float, memory: float | None, rate: float) -> float:
        """Price of a million requests at a rate, in requests per second."""
        return self.per_hour(cpus, memory) / (rate * _HOUR_S) * 1e6
