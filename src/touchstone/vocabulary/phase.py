"""The phases, each declared once, in the order in which reports show them: titles, and how a run goes through them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PhaseKind:
    """One kind of measurement: all that any room but its own knows of it."""

    name: str
    title: str
    per_round: bool = False
    """True if it is carried out in every round, in the round's order."""
    by_default: bool = True
    """True if it is part of a run that names no phases."""
    always: bool = False
    """True if every other phase rests on it: nothing is measured that was not built, nothing timed that was not
    checked."""
    opens: bool = False
    """True if its headline figures share the first table of a report: what it takes before a service runs."""
    outside: bool = False
    """True if it can be carried out on a service that the lab did not start."""
    load_alone: bool = False
    """True if a load's title says enough without the phase's."""
    under_load: bool = False
    """True if its samples hold what one load did: what spoils a load spoils it from the first second on."""
    by_load: bool = False
    """True if it is measured under each load of a run."""
    own_step: bool = False
    """True if claims measure it in runs of its own: it takes long. The others share one."""
    gated: bool = False
    """True if a gate watches its headline figures: what a service's users and its operators notice. Builds are slow by
    chance, and a gate on them would cry wolf; a memory floor is searched once, and would leave every gate open."""


_ALL = [
    PhaseKind("build", "Build", always=True, opens=True),
    PhaseKind("train", "Training run", always=True),
    PhaseKind("footprint", "Footprint", by_default=False, opens=True, gated=True),
    PhaseKind("boot", "Start", per_round=True, opens=True, gated=True),
    PhaseKind("verify", "Contract", always=True, outside=True),
    PhaseKind(
        "load",
        "Load",
        per_round=True,
        outside=True,
        load_alone=True,
        under_load=True,
        by_load=True,
        own_step=True,
        gated=True,
    ),
    PhaseKind("capacity", "Capacity", per_round=True, by_default=False, by_load=True, own_step=True, gated=True),
    PhaseKind("peak", "Time to peak", per_round=True, by_default=False, under_load=True, own_step=True, gated=True),
    PhaseKind("profile", "Profile", per_round=True, by_default=False, by_load=True, own_step=True, gated=True),
    PhaseKind("hold", "Held connections", per_round=True, by_default=False, own_step=True, gated=True),
    PhaseKind("drain", "Drain", per_round=True, own_step=True, gated=True),
    PhaseKind("floor", "Memory floor", by_default=False, own_step=True),
    PhaseKind("probe", "HTTP conformance", outside=True, gated=True),
]

PHASES: dict[str, PhaseKind] = {phase.name: phase for phase in _ALL}
"""All phases by name."""

UNDER_LOAD = tuple(phase.name for phase in _ALL if phase.under_load)
