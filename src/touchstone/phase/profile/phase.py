"""The profile phase: where the CPU of a request goes, at a rate that every contender serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from touchstone.bench.base import Bench, blank_sample, sampling
from touchstone.bench.service import running
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.base import EachInTurn, Phase, PlannedTurn
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.profile.measurement import profile_one
from touchstone.phase.profile.passes import ProfilePasses
from touchstone.phase.profile.task import ProfileTask
from touchstone.record.sample import Sample
from touchstone.traffic.sequence import LoadSequence
from touchstone.traffic.warming import WarmUpBudget
from touchstone.vocabulary.phase import PHASES, PhaseKind

SHARE = 0.5
"""Share of the slowest contender's rate: low enough to compare work per request without queues."""


class ProfilePhase(Phase):
    """Passes at a common rate with and without a profiler. Their figures are not part of the load's."""

    kind: ClassVar[PhaseKind] = PHASES["profile"]

    def __init__(self) -> None:
        self.rates: dict[str, float] = {}
        """Requests per second that every contender serves, by load."""

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """Each contender, at half of what the slowest answers to a load: that rate is found before the first round."""
        for name, load in profiled_loads(bench).items():
            able = [one for one in contenders if out_of_reach(one, load) is None]
            rates = [rate for c in able if (rate := _looked_at(bench, c, name, load)) is not None]
            slowest = SHARE * min(rates, default=0.0)
            self.rates[name] = min(slowest, load.rate) if load.rate else slowest
        yield EachInTurn()

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample for each load."""
        found = []
        for name, load in profiled_loads(bench).items():
            if why := out_of_reach(contender, load):
                left_out = unmeasured(bench, contender, name, round_number, why, phase="profile", position=position)
                found.append(left_out)
                continue
            with sampling(
                bench, "profile", contender.name, load=name, round_number=round_number, position=position
            ) as sample:
                bench.watcher.step(f"profiling {contender.name}: {name}")
                profile_one(ProfileTask(bench, contender, load, self.rates[name]), sample)
            found.append(sample)
        return found


def profiled_loads(bench: Bench) -> dict[str, Load]:
    """The loads that one rate can stand for: steps and ramps have many."""
    return {name: load for name, load in bench.calm_loads.items() if load.loop in {"closed", "open"}}


def _looked_at(bench: Bench, contender: Contender, name: str, load: Load) -> float | None:
    """How many requests per second it answers. None if it cannot be loaded, which its samples will say."""
    bench.watcher.step(f"looking for a rate that all serve: {contender.name}, {name}")
    sample, profile = blank_sample(bench, "profile", contender.name, load=name), bench.profile
    try:
        with running(bench, bench.builds[contender.name], sample.process, under=load) as looked_at:
            sent = LoadSequence(bench, looked_at, load, sample).prepare().load
            with ProfilePasses(bench, sent, looked_at, None) as passes:
                return passes.warm_up(WarmUpBudget(profile.warm_least_s, profile.warm_most_s / 3))
    except TouchstoneError:
        return None
