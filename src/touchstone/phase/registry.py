"""The phases in the order in which they are carried out: the only list of them."""

from __future__ import annotations

from touchstone.failure import UsageError
from touchstone.manifest.scenario import Scenario
from touchstone.phase.base import Phase
from touchstone.phase.boot import BootPhase
from touchstone.phase.build import BuildPhase
from touchstone.phase.drain import DrainPhase
from touchstone.phase.floor import FloorPhase
from touchstone.phase.footprint import FootprintPhase
from touchstone.phase.hold import HoldPhase
from touchstone.phase.load import LoadPhase
from touchstone.phase.peak import PeakPhase
from touchstone.phase.probe import ProbePhase
from touchstone.phase.train import TrainPhase
from touchstone.phase.verify import VerifyPhase

PHASES: tuple[Phase, ...] = (
    BuildPhase(),
    TrainPhase(),
    VerifyPhase(),
    ProbePhase(),
    FootprintPhase(),
    BootPhase(),
    PeakPhase(),
    LoadPhase(),
    DrainPhase(),
    HoldPhase(),
    FloorPhase(),
)

_ALWAYS = ("build", "train", "verify")
"""Nothing is measured that was not built, and nothing timed that was not checked."""


def select_phases(scenario: Scenario, asked: tuple[str, ...]) -> list[Phase]:
    """The phases asked for, with those that they rest on; the default ones if none is asked. Raises UsageError."""
    known = {phase.name: phase for phase in PHASES}
    for name in asked:
        if name not in known:
            raise UsageError(f"there is no phase {name!r}", mend=f"there are: {', '.join(known)}")
        if not known[name].applies(scenario):
            raise UsageError(
                f"scenario {scenario.name} does not say how to measure {name!r}",
                mend=f"add a [{name}] table to its scenario.toml, or leave the phase out",
            )
    if asked:
        return [phase for phase in PHASES if phase.name in {*asked, *_ALWAYS}]
    return [phase for phase in PHASES if phase.default and phase.applies(scenario)]
