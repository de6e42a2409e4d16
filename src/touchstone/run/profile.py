"""How much time a run takes for each measurement."""

from __future__ import annotations

from dataclasses import dataclass

from touchstone.engine.job import Timing
from touchstone.manifest.load import Load
from touchstone.manifest.load import Profile as ProfileName


@dataclass(frozen=True)
class Profile:
    """Times in seconds. A load's own times, where the scenario states them, come before these."""

    name: ProfileName
    rounds: int
    warmup_s: float
    measured_s: float
    tare_s: float
    boots: int
    """Starts of each contender in each round."""
    idle_in_rounds: int
    """In how many rounds the memory is watched after the load as well."""
    peak_s: float = 60.0
    """How long a contender is loaded from exec on, to see when it reaches its peak."""
    cold_boots: int = 0
    """Starts with an empty page cache of each contender in each round."""

    def timing(self, load: Load, round_number: int) -> Timing:
        """The times of a load in a round, counted from 1."""
        shrink = 1.0 if self.name != "quick" else 0.25
        return Timing(
            warmup_s=self.warmup_s if load.warmup_s is None else load.warmup_s * shrink,
            measured_s=self.measured_s if load.seconds is None else load.seconds * shrink,
            idle_s=load.idle_s if round_number <= self.idle_in_rounds else 0.0,
        )

    def tare_timing(self, timing: Timing) -> Timing:
        """The times of the same load on the null server, which needs no warm-up to speak of."""
        return Timing(warmup_s=0.2, measured_s=min(self.tare_s, timing.measured_s), idle_s=0.0)


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("quick", 3, 1.0, 2.0, 1.0, 3, 1, peak_s=20.0),
        Profile("normal", 7, 3.0, 6.0, 2.0, 3, 7, cold_boots=1),
        Profile("thorough", 15, 10.0, 20.0, 5.0, 5, 15, cold_boots=2),
    )
}
"""quick: minutes, a first look. normal: fit for a decision. thorough: fit for publication."""
