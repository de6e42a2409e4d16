"""A published result, whatever file it came from: seconds, bytes and counts; what a file does not say is None."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TIME = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NUMBER = re.compile(r"^\s*([0-9.]+)\s*([a-zA-Zµ%]*)\s*$")


@dataclass(frozen=True)
class Published:
    """One entry under one test at one number of connections."""

    entry: str
    test: str
    connections: int | None = None
    pipeline: int = 1
    rate: float | None = None
    """The rate that is ranked, per second."""
    offered: float | None = None
    """The rate of an open loop; None where the loop is closed or the file does not say."""
    open_loop: bool = False
    """Whether a rate was offered, which the file need not tell."""
    duration_s: float | None = None
    window_s: float | None = None
    """From the first to the last time stamp, where the file has them."""
    answered: int | None = None
    """Responses that the file counts as right."""
    errors: int | None = None
    """Responses that were errors; None where the file does not count them."""
    unanswered: int | None = None
    """Requests without a response: time-outs and broken connections."""
    errors_in_rate: bool = False
    """Whether the ranked count contains the responses that were errors."""
    mean_s: float | None = None
    percentiles: dict[float, float] = field(default_factory=dict)
    max_s: float | None = None
    cpus: float | None = None
    """CPUs used, as sampled."""
    cpu_s: float | None = None
    """CPU time used, as counted."""
    checks: tuple[int, int] | None = None
    """How many of the load tool's own checks failed, and how many there were."""

    @property
    def closed(self) -> bool:
        """Whether each connection waits for its response before it sends on."""
        return not self.open_loop and self.offered is None


@dataclass(frozen=True)
class Publication:
    """A file with its entries and with what its format is known to do to all of them."""

    format: str
    results: list[Published]
    of_all: list[tuple[str, str]] = field(default_factory=list)
    """Causes that concern each entry: code and statement."""


def seconds(text: object) -> float | None:
    """A time such as `1.48ms`; None if it is none."""
    found = _NUMBER.match(str(text))
    if found is None or found[2] not in _TIME:
        return None
    return float(found[1]) * _TIME[found[2]]


def percent(text: object) -> float | None:
    """`250.0%` as 2.5; None if it is none."""
    found = _NUMBER.match(str(text))
    return float(found[1]) / 100 if found is not None and found[2] == "%" else None


def number(value: object) -> float | None:
    """A number; None for everything else, and for a truth value."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
