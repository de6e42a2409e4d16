"""What is said of latency: bands of percentiles in parts, and a difference between two of them. Seconds."""

from __future__ import annotations

from touchstone.record.base import Record


class PartOfLatency(Record):
    """A part of a band's latency, or of a difference, as the mean over rounds."""

    name: str
    seconds: float
    low: float | None = None
    high: float | None = None
    """The interval; of the parts of a difference simultaneous. None with too few rounds."""

    @property
    def sure(self) -> bool:
        """Whether its interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


class LatencyBand(Record):
    """Requests around one percentile."""

    name: str
    """`p50`, `p90`, `p99` or `p99.9`."""
    requests: int
    """Requests of the band that were divided, over all rounds."""
    total: PartOfLatency
    parts: list[PartOfLatency] = []
    """The largest first; with the rest they add up to the total."""


class ContenderLatency(Record):
    """One contender under one load."""

    contender: str
    rounds: int
    requests: int
    bands: list[LatencyBand] = []
    pauses: dict[str, float] = {}
    """The runtime's pauses by name: seconds in all windows."""
    unseen: list[str] = []
    """What could not be looked at, in sentences."""
    cost: float | None = None
    """CPU per request with the stamps over CPU per request without, less 1: the mean over rounds."""
    cost_low: float | None = None
    cost_high: float | None = None
    """Its interval. None with too few rounds."""


class LatencyExplanation(Record):
    """Why a contender's p99 differs from the baseline's, or from its own median."""

    load: str
    contender: ContenderLatency
    baseline: ContenderLatency | None = None
    total: PartOfLatency
    """The contender's p99 less the baseline's p99, or less its own median."""
    parts: list[PartOfLatency] = []
    """Parts of that difference, the largest first; with the rest they add up to it."""
    explained: float | None = None
    """The share of the difference that named parts explain; None where there is no difference."""
    main: list[str] = []
    """The parts that are named as causes; empty where too little is explained, or nothing is different."""
    verdict: str
    """In a sentence."""
