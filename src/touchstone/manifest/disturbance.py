"""The faults of dependencies while a load runs: when, of which dependency, and what is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from touchstone.manifest.base import ManifestModel, Name

CALM_BEFORE_S = 1.0
"""The load before the first fault shows how the service is without one."""
CALM_AFTER_S = 2.0
"""The load after a fault shows whether the service recovers: for a second, and it needs time to do so."""

_SETTINGS = {
    "slow": ("delay_ms", "jitter_ms"),
    "slow-drip": ("bytes_per_s",),
    "full": ("connections",),
    "error": ("status",),
}


class Disturbance(ManifestModel):
    """A fault of a dependency while the load runs."""

    at_s: Annotated[float, Field(ge=CALM_BEFORE_S, le=3600)]
    """The start of the fault, in seconds of the measured time."""
    for_s: Annotated[float, Field(ge=0.1, le=600)]
    """The duration in seconds. `reset` happens at the start; errors are counted during this time."""
    dependency: Name
    """The dependency that fails, by its name."""
    act: Literal["stall", "slow", "refuse", "reset", "slow-drip", "full", "error"]
    """What fails; docs/disturb.md says which kind of dependency can do which."""
    delay_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    """`slow`: the delay of each part of a response; by default 100."""
    jitter_ms: Annotated[float, Field(ge=0, le=60_000)] | None = None
    """`slow`: the largest random deviation from the delay in both directions; by default 0."""
    bytes_per_s: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """`slow-drip`: the bytes per second and connection that still arrive from the dependency; by default 20."""
    connections: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """`full`: the number of connections that are still served; by default 1."""
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    """`error`: the status of every response; by default 503."""

    @property
    def end_s(self) -> float:
        """When it ends, in seconds of the measured time."""
        return self.at_s + self.for_s

    @property
    def in_words(self) -> str:
        """What fails, as sentences name it."""
        return {
            "stall": f"{self.dependency} stalls",
            "slow": f"{self.dependency} is slow",
            "refuse": f"{self.dependency} is down",
            "reset": f"{self.dependency} cuts its connections",
            "slow-drip": f"{self.dependency} drips",
            "full": f"{self.dependency} is full",
            "error": f"{self.dependency} answers with errors",
        }[self.act]

    @model_validator(mode="after")
    def _settings_fit(self) -> Disturbance:
        taken = _SETTINGS.get(self.act, ())
        for name in (name for names in _SETTINGS.values() for name in names):
            if getattr(self, name) is not None and name not in taken:
                raise ValueError(
                    f"{self.act!r} takes no `{name}`"
                    + (f"; it takes {' and '.join(f'`{one}`' for one in taken)}" if taken else ": leave it out")
                )
        if (self.jitter_ms or 0) > (self.delay_ms or 100):
            raise ValueError("`jitter_ms` is above the delay, and no response comes before it is sent: lower it")
        return self


def misplaced(disturb: Sequence[Disturbance], seconds: float) -> Iterator[str]:
    """What is wrong with the times of a load's faults, a sentence each. `seconds` is the load's measured time."""
    for one in disturb:
        if one.end_s + CALM_AFTER_S > seconds:
            yield (
                f"the fault at {one.at_s:g} s ends {one.end_s:g} s into a load of {seconds:g} s, and the service needs "
                f"{CALM_AFTER_S:g} s after it to show that it recovers: set `seconds` to {one.end_s + CALM_AFTER_S:g} "
                "or more, or move the fault"
            )
    for first, second in pairwise(sorted(disturb, key=lambda one: one.at_s)):
        if second.at_s < first.end_s + CALM_BEFORE_S:
            yield (
                f"the fault at {second.at_s:g} s begins before the one at {first.at_s:g} s has been over for "
                f"{CALM_BEFORE_S:g} s: move it to {first.end_s + CALM_BEFORE_S:g} or later"
            )
