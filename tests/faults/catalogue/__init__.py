"""The catalogue: every planted fault, and every sound set-up."""

from tests.faults.catalogue.answers import ANSWERS
from tests.faults.catalogue.dependencies import DEPENDENCIES
from tests.faults.catalogue.drains import DRAINS
from tests.faults.catalogue.machines import MACHINES
from tests.faults.catalogue.manifests import MANIFESTS
from tests.faults.catalogue.processes import PROCESSES
from tests.faults.catalogue.records import GROUND, NOT_PLANTABLE, RECORDS
from tests.faults.catalogue.sound import SOUND
from tests.faults.catalogue.times import TIMES
from tests.faults.catalogue.tricks import TRICKS
from tests.faults.catalogue.two_faced import TWO_FACED
from tests.faults.setup import Setup

FAULTS: tuple[Setup, ...] = (
    *ANSWERS,
    *PROCESSES,
    *TIMES,
    *DEPENDENCIES,
    *DRAINS,
    *MACHINES,
    *MANIFESTS,
    *TRICKS,
    *TWO_FACED,
    *RECORDS,
)

SETUPS: tuple[Setup, ...] = (*FAULTS, *SOUND)

__all__ = ["FAULTS", "GROUND", "NOT_PLANTABLE", "SETUPS", "SOUND"]
