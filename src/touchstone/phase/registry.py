"""The phases in the order in which they are carried out: the only list of them."""

from __future__ import annotations

from touchstone.failure import UsageError
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import Phase
from touchstone.phase.boot.phase import BootPhase
from touchstone.phase.bounds.phase import BoundsPhase
from touchstone.phase.build.phase import BuildPhase
from touchstone.phase.build.train import TrainPhase
from touchstone.phase.capacity.phase import CapacityPhase
from touchstone.phase.disturb.phase import DisturbPhase
from touchstone.phase.drain.phase import DrainPhase
from touchstone.phase.floor.phase import FloorPhase
from touchstone.phase.footprint.phase import FootprintPhase
from touchstone.phase.hold.phase import HoldPhase
from touchstone.phase.load.phase import LoadPhase
from touchstone.phase.peak.phase import PeakPhase
from touchstone.phase.probe.phase import ProbePhase
from touchstone.phase.profile.phase import ProfilePhase
from touchstone.phase.stop.phase import StopPhase
from touchstone.phase.tail.phase import TailPhase
from touchstone.phase.verify.phase import VerifyPhase

EXECUTION_ORDER: tuple[type[Phase], ...] = (
    BuildPhase,
    TrainPhase,
    VerifyPhase,
    ProbePhase,
    BoundsPhase,
    FootprintPhase,
    BootPhase,
    PeakPhase,
    LoadPhase,
    CapacityPhase,
    ProfilePhase,
    TailPhase,
    DisturbPhase,
    DrainPhase,
    HoldPhase,
    StopPhase,
    FloorPhase,
)


def select_phases(scenario: Scenario, asked: tuple[str, ...], *, all_outside: bool = False) -> list[Phase]:
    """The phases asked for, with those that they rest on.

    The default ones if none is asked. Raises UsageError.

    `all_outside` says that touchstone starts no contender itself: what only it could do is then left out.
    """
    phases = [phase() for phase in EXECUTION_ORDER]
    known = {phase.kind.name: phase for phase in phases}
    for name in asked:
        if name not in known:
            raise UsageError(f"there is no phase {name!r}", fix=f"there are: {', '.join(known)}")
        if not known[name].applies(scenario):
            raise UsageError(
                f"scenario {scenario.name} does not say how to measure {name!r}",
                fix=f"add a [{name}] table to its scenario.toml, or leave the phase out",
            )
        if all_outside and not known[name].outside:
            can = [phase.kind.name for phase in phases if phase.outside]
            raise UsageError(
                f"the phase {name!r} needs services that touchstone starts, and this run has none",
                fix=f"for services that already run there are: {', '.join(can)}; or name a stack by --stacks",
            )
    possible = [phase for phase in phases if phase.outside or not all_outside]
    if asked:
        return [phase for phase in possible if phase.kind.name in asked or phase.kind.always]
    return [phase for phase in possible if phase.kind.by_default and phase.applies(scenario)]
