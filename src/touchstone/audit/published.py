"""A published result, whatever file it came from: seconds, bytes and counts; what a file does not say is None."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_TIME = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "m": 60.0}
_TIME |= {"min": 60.0, "h": 3600.0, "hr": 3600.0}
_NUMBER = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([a-zA-Zµμ%]*)\s*$")
_PARTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ns|us|µs|μs|ms|s|m|h)")

_LARGEST = 10**18
Cause = tuple[str, str]
"""A code and its statement."""


@dataclass(frozen=True)
class PublishedResult:
    """One run, or one entry under one test at one number of connections."""

    entry: str
    test: str
    tool: str
    """The load tool, or the benchmark that published it."""
    version: str | None = None
    """The tool's version, where the file states it."""
    load: str | None = None
    """The whole load, where the file states it: results of one load are its repetitions."""
    machine: str | None = None
    """The name of the machine, where the file states it."""
    measured_at: float | None = None
    """Seconds since 1970 at the end of the run, where the file states it."""
    connections: int | None = None
    pipeline: int | None = 1
    """Requests that a connection may have in flight; None where the file does not say."""
    rate: float | None = None
    """The rate that is ranked, per second."""
    offered: float | None = None
    """The rate that requests were sent at; None where each followed a response, or the file does not say."""
    open_loop: bool = False
    """Whether requests were sent without waiting for responses. A loop with an offered rate may wait for them."""
    duration_s: float | None = None
    window_s: float | None = None
    """From the first to the last time stamp, where the file has them."""
    answered: int | None = None
    """Responses that the file counts as right."""
    answered_off: float = 0.0
    """By how much this count may miss rate times duration, as the tool rounds the count and samples the rate."""
    errors: int | None = None
    """Responses that were errors; None where the file does not count them."""
    unanswered: int | None = None
    """Requests without a response: time-outs and broken connections."""
    errors_in_rate: bool = False
    """Whether the ranked count contains the responses that were errors."""
    mean_s: float | None = None
    mean_of_all: bool = False
    """Whether the mean is of all requests, while percentiles and extremes are of the right ones alone."""
    percentiles: Mapping[float, float] = field(default_factory=dict)
    min_s: float | None = None
    max_s: float | None = None
    step_s: float = 0.0
    """Times are rounded to multiples of this."""
    least_mean_s: float | None = None
    """The least that the mean of the measured latencies can be, where the tool's own mean holds others as well."""
    mean_step_s: float = 0.0
    """By how much the mean may be off, since the times in it were rounded, or it was."""
    digits: int | None = None
    """Number of significant digits of percentiles."""
    lawless: str | None = None
    """Why Little's law says nothing of this result; None where it does."""
    cpus: float | None = None
    """CPUs used, as sampled."""
    cpu_s: float | None = None
    """CPU time used, as counted."""
    checks: tuple[int, int] | None = None
    """How many of the load tool's own checks failed, and how many there were."""
    ranked: bool = False
    """Whether it is published as an entry that others are ranked against."""
    causes: tuple[Cause, ...] = ()
    """What its format is known to do to each of its results."""

    @property
    def closed(self) -> bool:
        """Whether each connection sends as soon as its response has come."""
        return not self.open_loop and self.offered is None

    @property
    def measured_rate(self) -> float | None:
        """The rate if it can be one: above nothing, and finite."""
        return self.rate if self.rate is not None and 0 < self.rate < math.inf else None

    def rounding(self, time_s: float) -> float:
        """By how many seconds rounding may have moved a percentile."""
        by_digits = 10.0 ** (math.floor(math.log10(time_s)) + 1 - self.digits) if self.digits and time_s > 0 else 0.0
        return max(self.step_s, by_digits)


@dataclass(frozen=True)
class Publication:
    """The results of one file, or of several of one tool."""

    results: list[PublishedResult]
    left_out: list[str] = field(default_factory=list)
    """What of the file could not be read, in words."""

    @property
    def format(self) -> str:
        """The tools that it is of."""
        return ", ".join(dict.fromkeys(result.tool for result in self.results))

    @property
    def title(self) -> str:
        """The tools with their versions, as far as the file states them."""
        named = (f"{one.tool} {one.version}" if one.version else one.tool for one in self.results)
        return ", ".join(dict.fromkeys(named))


def without_zeros(result: PublishedResult) -> PublishedResult:
    """The result without zeros where nothing was measured: no time, no rate and no number of connections is zero.

    A rate of nothing stays where not one response was counted: that is what was measured. Raises ValueError for a
    count that nothing can have counted.
    """
    for name in ("connections", "pipeline", "answered", "errors", "unanswered"):
        if abs(getattr(result, name) or 0) > _LARGEST:
            raise ValueError(f"a count of more than {_LARGEST:.0e}")
    times = ("duration_s", "window_s", "mean_s", "min_s", "max_s", "connections", "offered", "cpus", "cpu_s")
    absent: dict[str, object] = {name: None for name in times if getattr(result, name) == 0}
    if result.rate == 0 and result.answered:
        absent["rate"] = None
    return replace(result, percentiles={p: v for p, v in result.percentiles.items() if v != 0}, **absent)  # type: ignore[arg-type]


def seconds(text: object) -> float | None:
    """A time such as `1.48ms` or `1m2.5s`; None if it is none."""
    found = _NUMBER.match(str(text))
    if found is not None:
        return float(found[1]) * _TIME[found[2]] if found[2] in _TIME else None
    parts = _PARTS.findall(str(text)) if _PARTS.sub("", str(text)).strip() == "" else []
    return math.fsum(float(value) * _TIME[unit] for value, unit in parts) if parts else None


def percent(text: object) -> float | None:
    """`250.0%` as 2.5; None if it is none."""
    found = _NUMBER.match(str(text))
    return float(found[1]) / 100 if found is not None and found[2] == "%" else None


def number(value: object) -> float | None:
    """A number; None for everything else, and for a truth value."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def text(value: object) -> str | None:
    """A text; None for everything else."""
    return value if isinstance(value, str) else None


def count(value: object) -> int | None:
    """A number as a count; None for everything else. Raises ValueError or OverflowError if it is not finite."""
    found = number(value)
    return None if found is None else round(found)


def scaled(value: object, scale: float) -> float | None:
    """A number times a scale, such as that of milliseconds; None if it is none."""
    found = number(value)
    return None if found is None else found * scale


def present(times: Mapping[float, float | None]) -> dict[float, float]:
    """The percentiles that are there."""
    return {p: value for p, value in times.items() if value is not None}
