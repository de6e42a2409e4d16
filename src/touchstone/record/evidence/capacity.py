"""The search for the highest rate within an objective, trial by trial. Requests per second, seconds, bytes, shares."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from touchstone.record.base import Record

Ended = Literal["found", "trials", "generator", "nothing holds"]
"""`found`: the interval is as narrow as was wanted. `trials`: the trials were used up before. `generator`: all that the
engine could offer held, so the knee lies above. `nothing holds`: not even the lowest rate that a trial can carry."""


class CapacityTrial(Record):
    """One rate that was offered for a while."""

    rate: float
    seconds: float
    purpose: Literal["search", "curve"]
    held: bool | None
    """Whether the objective held; None for a void trial, which says nothing of the server."""
    void: Literal["generator", "others"] | None = None
    """The cause of a void trial: the generator, or a burst of other work. Missing in older records."""
    why: str = ""
    """What broke the objective, or kept the trial from saying anything."""
    sent: int = 0
    achieved: float = 0.0
    error_share: float = 0.0
    latency: dict[str, float] = {}
    """Seconds from the intended send time, by percentile as an objective names it."""
    backlog: float | None = None
    """By which share of the offered rate the requests in the system grew in each second."""
    cpu_per_request: float | None = None
    rss_peak: int | None = None
    server_busy: float | None = None
    generator_busy: float | None = None
    lateness_p99: float | None = None
    streams: int | None = None
    """The most streams under way at once; None if responses are no streams, and in older records."""
    other_cpus: float | None = None
    """How many CPUs were used on average by others than server, engine and dependencies."""
    stolen_cpus: float | None = None
    """How many CPUs the hypervisor took on average."""


class UseAtRate(Record):
    """A contender's use at a rate common to all contenders of the round, in slices."""

    share: float
    """Share of the smallest capacity among them."""
    rate: float
    cpu_per_request: float | None = None
    rss: int | None = None
    """RSS of a process that has been at its limit before; memory that it did not give back counts."""
    errors: int = 0
    slices: int = 0


Behaviour = Literal["sheds", "queues", "collapses", "dies", "never recovers"]
"""What a service does beyond its capacity."""
SHEDS, COLLAPSES = 0.8, 0.2
"""Goodput at twice the capacity, as a share of the capacity: from the first on the service sheds excess requests, and
below the second hardly a request is answered in time. Between them it queues: some answers come too late."""


_CALM_SHARE = 0.9
"""Goodput before a burst, as a share of the offered rate, from which on the service was at its usual work."""


class BurstStep(Record):
    """One rate of a burst, or the load before or after it."""

    factor: float
    """The rate as a multiple of the capacity."""
    rate: float
    seconds: float
    goodput: float
    """Right responses per second that came within the deadline, counted from when the request was due."""
    errors: int
    """Requests that ended wrong or failed; a client that gave up is among them."""


class BurstMoment(Record):
    """A part of a burst's time."""

    t: float
    """Its end, in seconds from the beginning of the load before the burst."""
    sent: float
    """Requests per second that were sent."""
    goodput: float
    """Right responses per second that came within the deadline."""


class SmallestBurst(Record):
    """The search for the shortest burst from which a service does not return."""

    height: float
    """The rate as a multiple of the capacity."""
    window_s: float
    """The length of the load after each burst. A service that is not back within it has not returned."""
    returns_s: float | None = None
    """The longest burst after which it was back."""
    stays_s: float | None = None
    """The shortest burst after which it was not. None if it returned from the longest that was offered, or if too few
    bursts could be judged."""
    offered: int = 0
    died: str | None = None
    """How the server ended in the last burst, in words."""


class BurstEvidence(Record):
    """A burst beyond the capacity, by clients that give up, and the load after it."""

    deadline_s: float
    capacity: float
    connections: int
    """Enough that each request that is due within a deadline can have one of its own."""
    steps: list[BurstStep]
    """The load before, the burst's rates, and the load after."""
    failures: dict[str, int]
    """How requests failed over all steps, by the engine's classes."""
    statuses: dict[str, int]
    never_sent: int = 0
    """Requests whose client gave up before one of the connections was free."""
    rss_peak: int | None = None
    recovery_s: float | None = None
    """From the end of the burst until goodput and latency were back for a second; None if they never were."""
    died: str | None = None
    """How the server ended, in words; None if it lives."""
    smallest: SmallestBurst | None = Field(default=None, exclude_if=lambda found: found is None)
    """None where it was not searched."""
    timeline: list[BurstMoment] = []
    """The whole load, in parts of a fifth of a second. Missing in older records."""
    void: str = ""
    """Why the burst says nothing of the server, which the generator or others kept from its work; empty if it does."""

    def goodput_at(self, factor: float) -> float | None:
        """Goodput at a multiple of the capacity, in requests per second; None if not offered."""
        return next((step.goodput for step in self.steps if step.factor == factor), None)

    @property
    def excess_s(self) -> float:
        """Seconds of work at capacity in what the burst offered beyond it."""
        return sum(max(0.0, step.factor - 1.0) * step.seconds for step in self.steps)

    @property
    def began_calm(self) -> bool:
        """Whether the load before the burst was served."""
        return self.steps[0].goodput >= _CALM_SHARE * self.steps[0].rate

    @property
    def behaviour(self) -> Behaviour:
        """What the service does beyond its capacity, the worst first."""
        if self.died:
            return "dies"
        if self.recovery_s is None:
            return "never recovers"
        share = (self.goodput_at(2.0) or 0.0) / self.capacity
        return "sheds" if share >= SHEDS else "collapses" if share < COLLAPSES else "queues"


class CapacityEvidence(Record):
    """One contender's search in one round."""

    kind: Literal["capacity"] = "capacity"
    objective: str
    bounds: dict[str, float] = {}
    """Its upper bounds by quantity: seconds, and `errors` as a share."""
    low: float | None = None
    high: float | None = None
    """The interval that holds the knee with 95 % by this round's trials."""
    ended: Ended
    lowest: float
    """The lowest rate of the search, at which a trial still carries the objective's percentiles."""
    dies_at: float | None = None
    """The lowest rate at which the server ended; the search went on below it, with a new process."""
    death: str | None = None
    """How it ended the last time. Without a rate it was in the warm-up, whose connections ask all at once."""
    tare: float | None = None
    """What the null server bore under the same objective in the same round."""
    trials: list[CapacityTrial] = []
    at_rates: list[UseAtRate] = []
    burst: BurstEvidence | None = Field(default=None, exclude_if=lambda burst: burst is None)
    """What a burst beyond the capacity did; None where no deadline is stated."""
