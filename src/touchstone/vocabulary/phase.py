"""The phases, each declared once, in the order in which reports show them: what they measure, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PhaseSchedule(Enum):
    """When a run carries a phase out."""

    FIRST = "first"
    """Once, before all others: nothing is measured that was not built, nothing timed that was not checked."""
    ONCE = "once"
    EACH_ROUND = "each round"
    """In the round's order of contenders."""


class PhaseSubject(Enum):
    """What a phase is about."""

    ARTIFACT = "artifact"
    START = "start"
    CONTRACT = "contract"
    LOAD = "load"
    """What one load did: what spoils a load spoils it from the first second on."""
    LIMITS = "limits"
    """What is searched or explained by many loads, starts or connections."""


@dataclass(frozen=True)
class PhaseKind:
    """One kind of measurement: all that any room but its own knows of it."""

    name: str
    title: str
    subject: PhaseSubject
    when: PhaseSchedule
    by_default: bool = True
    """True if it is part of a run that names no phases."""
    by_load: bool = False
    """True if it is measured under each load of a run."""

    @property
    def per_round(self) -> bool:
        """Whether it is carried out in every round."""
        return self.when is PhaseSchedule.EACH_ROUND

    @property
    def always(self) -> bool:
        """Whether every other phase rests on it."""
        return self.when is PhaseSchedule.FIRST

    @property
    def opens(self) -> bool:
        """Whether its headline figures share the first table of a report: the costs before a service runs."""
        return self.subject in (PhaseSubject.ARTIFACT, PhaseSubject.START)

    @property
    def load_alone(self) -> bool:
        """Whether a load's title says enough without the phase's."""
        return self.subject is PhaseSubject.LOAD and self.by_load

    @property
    def own_step(self) -> bool:
        """Whether claims measure it in runs of its own, since it takes long. The others share one."""
        return self.subject in (PhaseSubject.LOAD, PhaseSubject.LIMITS)

    @property
    def gated(self) -> bool:
        """Whether a gate watches its headline figures: what a service's users and its operators notice.

        Builds are slow by chance, and a gate on them would cry wolf; what takes long and is searched only once, as a
        memory floor is, would leave every gate open.
        """
        return not self.always and (self.per_round or not self.own_step)


_ALL = [
    PhaseKind("build", "Build", PhaseSubject.ARTIFACT, PhaseSchedule.FIRST),
    PhaseKind("train", "Training run", PhaseSubject.ARTIFACT, PhaseSchedule.FIRST),
    PhaseKind("footprint", "Footprint", PhaseSubject.ARTIFACT, PhaseSchedule.ONCE, by_default=False),
    PhaseKind("boot", "Start", PhaseSubject.START, PhaseSchedule.EACH_ROUND),
    PhaseKind("verify", "Contract", PhaseSubject.CONTRACT, PhaseSchedule.FIRST),
    PhaseKind("load", "Load", PhaseSubject.LOAD, PhaseSchedule.EACH_ROUND, by_load=True),
    PhaseKind("capacity", "Capacity", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND, by_default=False, by_load=True),
    PhaseKind("peak", "Time to peak", PhaseSubject.LOAD, PhaseSchedule.EACH_ROUND, by_default=False),
    PhaseKind("profile", "Profile", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND, by_default=False, by_load=True),
    PhaseKind("tail", "Slow requests", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND, by_default=False, by_load=True),
    PhaseKind("hold", "Held connections", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND, by_default=False),
    PhaseKind("stop", "Stop under load", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND, by_default=False),
    PhaseKind("disturb", "Failing dependency", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND, by_load=True),
    PhaseKind("bounds", "Bounds", PhaseSubject.LIMITS, PhaseSchedule.ONCE, by_default=False),
    PhaseKind("drain", "Drain", PhaseSubject.LIMITS, PhaseSchedule.EACH_ROUND),
    PhaseKind("floor", "Memory floor", PhaseSubject.LIMITS, PhaseSchedule.ONCE, by_default=False),
    PhaseKind("probe", "HTTP conformance", PhaseSubject.CONTRACT, PhaseSchedule.ONCE),
]

PHASES: dict[str, PhaseKind] = {phase.name: phase for phase in _ALL}
"""All phases by name."""

UNDER_LOAD = tuple(phase.name for phase in _ALL if phase.subject is PhaseSubject.LOAD)
