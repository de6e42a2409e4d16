"""A running contender, started by touchstone for this measurement or by somebody else before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from touchstone.bench.base import Bench
from touchstone.bench.outside import attached
from touchstone.bench.service import running
from touchstone.dependency.base import Dependency
from touchstone.engine.ask import AskedService
from touchstone.engine.protocol import Watch
from touchstone.isolation.cgroup import Cgroup
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.record.process import Process


class RunningContender(Protocol):
    """What a phase may use of a contender without knowing who started it."""

    @property
    def url(self) -> str:
        """Where it listens."""

    @property
    def service(self) -> AskedService:
        """The same, for the contract check."""

    @property
    def address(self) -> str | None:
        """The address that is connected to, where its URL may have several."""

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """Hosts beyond this machine that may be loaded for it."""

    @property
    def leftovers(self) -> Mapping[str, list[str]]:
        """What each dependency still held from before its reset."""

    @property
    def dependencies(self) -> Mapping[str, Dependency]:
        """Dependencies that it is known to use, which can be asked about its work."""

    @property
    def pid(self) -> int | None:
        """The root of its process tree, where it is known."""

    @property
    def cgroup(self) -> Cgroup | None:
        """The contender's own control group, if it has one."""

    @property
    def unwatched(self) -> str | None:
        """Why its memory and CPU cannot be read; None if they can."""

    @property
    def outlives_rounds(self) -> bool:
        """Whether the next round finds the same process, with all that was done to it."""

    def exited(self) -> str | None:
        """How it ended, in words; None while it lives, and where nobody can say."""

    def watch(self, after_s: float) -> Watch | None:
        """What the engine samples next to a load; None where there is nothing to sample."""


@contextmanager
def running_contender(
    bench: Bench, contender: Contender, record: Process, *, under: Load | None = None
) -> Iterator[RunningContender]:
    """A contender that gives correct responses: started for a load, or already running. Raises StartError."""
    if contender.outside is not None:
        with attached(bench, contender.outside, record, (under or bench.scenario).spoken) as found:
            yield found
        return
    with running(bench, bench.builds[contender.name], record, under=under) as started:
        yield started
