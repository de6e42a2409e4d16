"""How the events of streamed responses came, as the engine reports it. Seconds and counts."""

from __future__ import annotations

from touchstone.record.base import EngineRecord
from touchstone.record.distribution import Distribution


class Events(EngineRecord):
    """Events of the streams whose requests were due in the window."""

    count: int = 0
    """Events that came, each once."""
    inside: int = 0
    """Events that came within the window, whenever their stream was due."""
    rate: float = 0.0
    """Those per second."""
    first: Distribution = Distribution()
    """From when a stream was due to its first event."""
    gap: Distribution = Distribution()
    """From one event of a stream to the next."""
    delay: Distribution = Distribution()
    """From the time that an event names to its arrival; empty where the load has no `stamp`."""
    ahead: int = 0
    """Events whose stamp was ahead of the generator's clock."""
    wrong: int = 0
    lost: int = 0
    doubled: int = 0
    disordered: int = 0
    lasting: int = 0
    """Streams of at least 3 events that took 50 ms or more."""
    in_burst: int = 0
    """Those of `lasting` whose events all came within the last tenth of their time."""
    open_most: int = 0
    """The most requests in flight at once when an event came."""

    @property
    def faulty(self) -> int:
        """Events that were lost, doubled or out of order."""
        return self.lost + self.doubled + self.disordered
