"""What a load with faults of dependencies did: requests, recovery, and what was left over. Times are in seconds."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import EngineRecord, Record
from touchstone.record.engine import LoadResult

_KEPT = 0.5
"""A service that makes fewer connections than this per request keeps them."""


class RelayCounts(EngineRecord):
    """What a relay has counted since it began; docs/engine-protocol.md has the words."""

    accepted: int = 0
    open: int = 0
    turned_away: int = 0
    cut: int = 0
    unreached: int = 0
    turns: int = 0
    from_service: int = 0
    from_dependency: int = 0


class RelayAnswer(EngineRecord):
    """A relay's answer to an order."""

    at_unix_s: float
    counts: RelayCounts
    error: str | None = None


class Meanwhile(Record):
    """Requests that were due in one part of the load."""

    names: list[str] = []
    """Their names in the mix."""
    sent: int = 0
    errors: int = 0
    p90: float | None = None
    """The highest of the requests' own."""
    p99: float | None = None
    max: float | None = None

    @property
    def error_share(self) -> float | None:
        """The share that failed; None if none was sent."""
        return self.errors / self.sent if self.sent else None


class FaultEvidence(Record):
    """One fault, and the requests meanwhile."""

    dependency: str
    act: str
    in_words: str
    """What fails, as sentences name it."""
    at_s: float
    """As the load states it; from the start of the measured time."""
    for_s: float
    began_s: float
    """When it was done."""
    ended_s: float
    needing: Meanwhile
    """Requests that need the dependency."""
    others: Meanwhile
    """Requests that do not."""
    recovery_s: float | None = None
    """From its end until requests were answered as before; None if they were not when the next fault began, or the load
    ended."""
    turns_per_s: float | None = None
    """How often the service turned to the dependency; None where no relay counted."""
    connects_per_s: float | None = None
    """How many connections it made."""


class PatienceProbe(Record):
    """A single request while its dependency stalled for longer than the load's fault."""

    request: str
    dependency: str
    waited_s: float
    """Until its response, or until touchstone gave up."""
    answered: bool


class DisturbEvidence(Record):
    """A load with faults of dependencies."""

    kind: Literal["disturb"] = "disturb"
    result: LoadResult
    needs: dict[str, list[str]] | None = None
    """The dependencies that each request of the mix needs, by its name; None where none could be tried alone."""
    calm_needing: dict[str, Meanwhile] = {}
    """Before the first fault, by dependency: requests that need it."""
    calm_others: dict[str, Meanwhile] = {}
    end_needing: dict[str, Meanwhile] = {}
    """In the last second of the load, likewise."""
    faults: list[FaultEvidence] = []
    calm_turns_per_s: dict[str, float] = {}
    """By dependency, before the first fault."""
    calm_connects_per_s: dict[str, float] = {}
    sessions: dict[str, tuple[int, int]] = {}
    """By dependency: connections through the relay before the first fault, and after the load."""
    threads: tuple[int, int] | None = None
    """Threads of the process tree before the first fault, and at the end of the load."""
    patience: list[PatienceProbe] = []
    patience_s: float = 0.0
    """How long these requests were waited for."""
    work: tuple[int, int] | None = None
    """Units of work that right responses lack, and that were done beyond the requests sent; None where no proof counts
    work."""
    relay_s: float | None = None
    """By how much the relay lengthens a round trip, measured without a service; None without a relay."""
    relay_cpu_s: float | None = None
    """CPU of all relays over the load."""
    died: str | None = None
    """How the process ended; None if it lived on."""

    def amplification(self, fault: FaultEvidence) -> float | None:
        """Load on the dependency during the fault, as a multiple of that before: turns of the service.

        Where it kept connections before and makes them for requests now, connections per request count if they are
        more. None where nothing was counted, or no request needs the dependency.
        """
        calm, now = self.calm_turns_per_s.get(fault.dependency), fault.turns_per_s
        if not calm or now is None or not fault.needing.sent:
            return None
        due_per_s = fault.needing.sent / fault.for_s
        made = (fault.connects_per_s or 0.0) / due_per_s
        made_before = self.calm_connects_per_s.get(fault.dependency, 0.0) / due_per_s
        return max(now / calm, made if made_before < _KEPT else 0.0)
