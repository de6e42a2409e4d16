"""The source of the load: this machine's engine alone, or generators on other machines that it leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from touchstone.engine.client import Event, run_job
from touchstone.engine.protocol import HoldJob, LoadJob, SlicesJob
from touchstone.engine.slices import SlicesSession
from touchstone.record.engine import LoadResult
from touchstone.record.hold_result import HoldResult
from touchstone.record.process import GeneratorPlace


class Generators(Protocol):
    """Carries jobs out from where the load comes from. The jobs are the same otherwise."""

    @property
    def host(self) -> str:
        """The address of this machine that contenders listen on, so that the load can reach them."""

    @property
    def places(self) -> Sequence[GeneratorPlace]:
        """The other machines that the load comes from; none if it comes from here."""

    def put_load(self, job: LoadJob, on_event: Callable[[Event], None]) -> LoadResult:
        """Carry it out. Raises TouchstoneError, which names a machine that was lost."""

    def take_turns(
        self, job: SlicesJob, timeout_s: float, on_event: Callable[[Event], None]
    ) -> AbstractContextManager[SlicesSession]:
        """Open the session of a slices job, whose requests may take so long. Raises TouchstoneError likewise."""

    def hold(self, job: HoldJob, on_event: Callable[[Event], None]) -> HoldResult:
        """Carry out a hold job. Raises TouchstoneError likewise."""


class ThisMachine:
    """The load comes from this machine, over loopback."""

    host = "127.0.0.1"
    places: Sequence[GeneratorPlace] = ()

    def put_load(self, job: LoadJob, on_event: Callable[[Event], None]) -> LoadResult:
        """Carry it out by this machine's engine."""
        return run_job("load", job, LoadResult, on_event=on_event)

    def take_turns(
        self, job: SlicesJob, timeout_s: float, on_event: Callable[[Event], None]
    ) -> AbstractContextManager[SlicesSession]:
        """Open its session with this machine's engine."""
        return SlicesSession(job, timeout_s, on_event)

    def hold(self, job: HoldJob, on_event: Callable[[Event], None]) -> HoldResult:
        """Carry it out by this machine's engine."""
        return run_job("hold", job, HoldResult, on_event=on_event)
