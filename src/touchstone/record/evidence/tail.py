"""What the phase `tail` leaves: a load with the stamps of its slowest requests, and the runtime's pauses meanwhile."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record
from touchstone.record.evidence.profile import ProfilePass
from touchstone.record.tail import TailResult


class RuntimePause(Record):
    """An interval in which a runtime stopped its program, or collected next to it. µs since the first intended send."""

    begin: int
    end: int
    stops: bool
    """Whether the program stood still."""
    name: str


class DependencyWait(Record):
    """The state of a dependency's client at one moment, as the dependency itself reports it."""

    at: int
    """µs since the first intended send."""
    dependency: str
    port: int
    """The client's port."""
    state: str
    """In the dependency's own terms, such as `Lock transactionid`."""


class TailEvidence(Record):
    """One contender under one load, as the load's own loop puts it on."""

    kind: Literal["tail"] = "tail"
    tail: TailResult
    pauses: list[RuntimePause] = []
    no_pauses: str | None = None
    """Why the runtime's pauses are not known, and what to do."""
    dependencies: list[str] = []
    """Their names by number: the timeline's processes after the first two."""
    waits: list[DependencyWait] = []
    """States of dependencies that can be asked, at fixed intervals."""
    addresses: list[str] = []
    """The dependencies' names in the order of their addresses."""
    cpus: int = 1
    """CPUs of the contender."""
    with_stamps: ProfilePass
    """The window in which requests were kept and the server was looked at."""
    plain: ProfilePass | None = None
    """The same load without that, before and after it."""
