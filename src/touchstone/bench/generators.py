"""Who puts the load on: this machine's engine alone, or generators on other machines that it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from touchstone.engine.client import Event, run_job
from touchstone.engine.protocol import LoadJob
from touchstone.record.engine import LoadResult
from touchstone.record.sample import GeneratorPlace


class Generators(Protocol):
    """Carries a load job out from where the load comes from. The job is the same otherwise."""

    @property
    def host(self) -> str:
        """The address of this machine that contenders listen on, so that the load can reach them."""

    @property
    def places(self) -> Sequence[GeneratorPlace]:
        """The other machines that the load comes from; none if it comes from here."""

    def put_load(self, job: LoadJob, on_event: Callable[[Event], None]) -> LoadResult:
        """Carry it out. Raises TouchstoneError, which names a machine that was lost."""


class ThisMachine:
    """The load comes from this machine, over loopback."""

    host = "127.0.0.1"
    places: Sequence[GeneratorPlace] = ()

    def put_load(self, job: LoadJob, on_event: Callable[[Event], None]) -> LoadResult:
        """Carry it out by this machine's engine."""
        return run_job("load", job, LoadResult, on_event=on_event)
