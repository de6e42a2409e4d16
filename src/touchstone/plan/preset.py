"""The presets: how long each measurement takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from touchstone.engine.job import Timing
from touchstone.manifest.load import Load
from touchstone.manifest.load import Profile as ProfileName

REST_S = 1.2
"""In the first round the memory is watched for so long after each load: what is kept is judged from one second on, and
looks are 0.1 s apart."""
_UNBROKEN = 0.1
"""The share of the measured time for which a contender is loaded without a rest: what gives way later than that has
moved the figures of slices little."""
LEAST_ROUNDS = 4
"""Rounds of a profile that is short of time: four give 1.3 times the interval of five, three 2 times."""


@dataclass(frozen=True)
class Preset:
    """Times in seconds. A load's own times, where the scenario states them, come before these; in quick, which is a
    first look, only where they are shorter.
    """

    name: ProfileName
    rounds: int
    warmup_s: float
    measured_s: float
    tare_s: float
    boots: int
    """Starts of each contender in each round, at least."""
    idle_in_rounds: int
    """In how many rounds the memory is watched after the load as well."""
    idle_most_s: float = math.inf
    """And for how long at most, whatever the load asks for."""
    rounds_s: float = math.inf
    """After `LEAST_ROUNDS` no further one is begun that would end later than so long after the first began. Where those
    would, they have fewer laps."""
    peak_s: float = 60.0
    """How long a contender is loaded from exec on, to see when it reaches its peak."""
    cold_boots: int = 0
    """Starts with an empty page cache of each contender in each round."""
    slice_s: float = 0.25
    """One contender's turn, but"""
    open_slice_s: float = 0.5
    """in an open loop, where the 99th percentile is the round's and a few stalls make it up: it needs the time."""
    slice_is_fixed: bool = False
    """The user said how long a slice is: one that is too short is refused and not lengthened."""
    laps: int = 12
    """Turns of each contender under each load in each round."""
    warm_least_s: float = 2.0
    """A contender is loaded at least so long before its slices count, and"""
    warm_most_s: float = 90.0
    """at most so long if it still gets faster; half and a third of it where its process has served another load."""
    unbroken_s: float = 6.0
    """How long a contender is loaded without a rest at least, once for each load."""
    profile_s: float = 8.0
    """How long a pass at the profile's rate lasts."""
    trial_s: float = 2.5
    """One trial of a capacity at the edge of its objective, and"""
    trials: int = 40
    """Most trials for each contender under each load in each round."""
    capacity_width: float = 0.03
    """The interval of a round's capacity at which its search ends: the upper bound over the lower, less 1."""

    def timing(self, load: Load, round_number: int) -> Timing:
        """The times of a load in a round, counted from 1."""
        idle_s = min(load.idle_s, self.idle_most_s) if round_number <= self.idle_in_rounds else 0.0
        return Timing(
            warmup_s=self._own(load.warmup_s, self.warmup_s),
            measured_s=self._own(load.seconds, self.measured_s),
            idle_s=max(idle_s, REST_S) if round_number == 1 else idle_s,
        )

    def laps_of(self, load: Load) -> int:
        """Return the number of laps per round, by the load's stated time or the preset's."""
        slice_s = self.slice_of(load)
        return max(1, round(self._own(load.seconds, self.laps * slice_s) / slice_s))

    def unbroken_of(self, load: Load) -> float:
        """Return the seconds of load without a pause: a tenth of the measured time."""
        measured_s = self.rounds * self.laps_of(load) * self.slice_of(load)
        return self.unbroken_s if self.name == "quick" else max(self.unbroken_s, _UNBROKEN * measured_s)

    def slice_of(self, load: Load) -> float:
        """Return the length of a slice under a load, in seconds."""
        return self.open_slice_s if load.loop == "open" else self.slice_s

    def with_slices_of(self, seconds: float) -> Preset:
        """Return the preset with one length of slices under all loads."""
        return replace(self, slice_s=seconds, open_slice_s=seconds, slice_is_fixed=True)

    def warm_least_of(self, load: Load) -> float:
        """The shortest warm-up before slices under a load count, in seconds."""
        return self._own(load.warmup_s, self.warm_least_s)

    def _own(self, wanted: float | None, usual: float) -> float:
        """Return the time that the load states, or else the preset's.

        `quick` never takes longer than its own time.
        """
        if wanted is None:
            return usual
        return min(wanted, usual) if self.name == "quick" else wanted

    def tare_timing(self, timing: Timing) -> Timing:
        """The times of a load on the null server, which needs almost no warm-up."""
        return Timing(warmup_s=0.2, measured_s=min(self.tare_s, timing.measured_s), idle_s=0.0)


PROFILES: dict[str, Preset] = {
    profile.name: profile
    for profile in (
        Preset(
            "quick",
            5,
            1.0,
            2.0,
            1.0,
            2,
            1,
            idle_most_s=2.0,
            peak_s=20.0,
            laps=8,
            warm_least_s=1.25,
            warm_most_s=60.0,
            unbroken_s=1.5,
            profile_s=4.0,
            trial_s=1.5,
            rounds_s=340.0,
        ),
        Preset("normal", 7, 3.0, 6.0, 2.0, 3, 7, cold_boots=1, laps=24),
        Preset(
            "thorough",
            15,
            10.0,
            20.0,
            5.0,
            5,
            15,
            cold_boots=2,
            laps=48,
            warm_least_s=5.0,
            warm_most_s=150.0,
            profile_s=15.0,
            trial_s=5.0,
        ),
    )
}
"""quick: minutes, a first look. normal: fit for a decision. thorough: fit for publication.

Quick has many short rounds rather than few long ones: a process is born with luck that no further lap averages out, and
Student's t asks 4.3 standard errors of three rounds, 3.2 of four, 2.8 of five. Where the rounds take longer than that,
as those of a runtime that is warmed up for half of each, it has four, of fewer laps if need be: six minutes in all.
"""
