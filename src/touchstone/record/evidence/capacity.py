"""The search for the highest rate within an objective, trial by trial. Requests per second, seconds, bytes, shares."""

from __future__ import annotations

from typing import Literal

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
