"""The loads of a scenario: what is sent, how, and for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from touchstone.manifest.contract import Act, Proof, Send
from touchstone.manifest.mix import Mix

Profile = Literal["quick", "normal", "thorough"]


class Load(Mix):
    """One load: a mix, and how it is sent.

    A closed loop sends when an answer has come; an open loop sends at a rate, whatever comes back.
    """

    title: str
    about: str = ""
    loop: Literal["closed", "open", "steps", "ramp"] = "closed"
    connections: Annotated[int, Field(ge=1)] = 64
    rate: Annotated[float, Field(gt=0)] | None = None
    """Requests a second, for an open loop; the highest, for steps and a ramp."""
    steps: Annotated[int, Field(ge=2)] | None = None
    """How many rates between a tenth of `rate` and `rate`, for steps."""
    arrivals: Literal["uniform", "poisson"] = "uniform"
    pipeline: Annotated[int, Field(ge=1)] = 1
    keepalive: bool = True
    timeout_s: Annotated[float, Field(gt=0)] = 5.0
    seconds: Annotated[float, Field(gt=0)] | None = None
    """The measured time, in place of the profile's. In the profile quick it is at most the profile's own."""
    warmup_s: Annotated[float, Field(ge=0)] | None = None
    """The time before it, in place of the profile's, and in quick at most that."""
    idle_s: Annotated[float, Field(ge=0)] = 0.0
    """How long memory is watched after the load."""
    profiles: list[Profile] = ["quick", "normal", "thorough"]
    """The profiles in which this load is run."""
    exhibit: str | None = None
    """If this load holds a defect on purpose: which, in a sentence. It is run with --exhibits alone, or by its name."""
    error_allowance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The share of requests that may fail before the sample is invalid."""
    memory_limit_mb: Annotated[int, Field(ge=1)] | None = None
    """The memory that the contender may use under this load, by its cgroup; as much as there is if it is left out."""
    cpus: Annotated[float, Field(ge=0.01, le=1024)] | None = None
    """How many CPUs' time the contender may use under this load, by its cgroup, such as 0.5; all of those that it is
    bound to if it is left out."""
    dependency_settings: dict[str, dict[str, str | int | bool]] = {}
    """Settings of a dependency that this load changes, by the dependency's name."""
    prepare: list[Send | Act] = []
    """Sent, or done to a dependency, before the load and outside every figure."""
    proofs: list[Proof] = []

    @model_validator(mode="after")
    def _journeys_wait(self) -> Load:
        if self.journeys and self.pipeline > 1:
            raise ValueError("journeys need a pipeline of 1: a request waits for what the one before it captures")
        return self

    @model_validator(mode="after")
    def _loop_has_its_rate(self) -> Load:
        if self.loop == "closed" and self.rate is not None:
            raise ValueError("a closed loop has no rate: leave `rate` out or set loop to open")
        if self.loop != "closed" and self.rate is None:
            raise ValueError(f"loop {self.loop!r} needs `rate`, in requests per second")
        if self.loop == "steps" and self.steps is None:
            raise ValueError("loop 'steps' needs `steps`, the number of rates")
        return self
