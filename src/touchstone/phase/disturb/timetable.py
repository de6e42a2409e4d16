"""Carries out a load's faults at their times."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from touchstone.engine.client import Event
from touchstone.failure import TouchstoneError
from touchstone.manifest.disturbance import Disturbance
from touchstone.phase.disturb.relays import Disturbed
from touchstone.record.evidence.disturb import RelayCounts


@dataclass(frozen=True)
class DoneFault:
    """A fault that was carried out: when, in seconds since the Unix epoch, and what its relay counted around it."""

    planned: Disturbance
    began_unix_s: float
    ended_unix_s: float
    before: RelayCounts | None
    after: RelayCounts | None


class Timetable:
    """A context around a load: its faults are carried out from the moment on at which its measured time begins.

    `on_event` is to be given the engine's events. What could not be done is raised when the context ends.
    """

    def __init__(self, faults: Sequence[Disturbance], disturbed: Mapping[str, Disturbed]) -> None:
        self._faults = sorted(faults, key=lambda one: one.at_s)
        self._disturbed = disturbed
        self._begin_s: float | None = None
        self._begun, self._over = threading.Event(), threading.Event()
        self._error: TouchstoneError | None = None
        self.done: list[DoneFault] = []
        self.at_begin: dict[str, RelayCounts] = {}
        """What each relay had counted when the measured time began."""
        self.at_end: dict[str, RelayCounts] = {}
        """And when the load had ended."""

    def on_event(self, event: Event) -> None:
        """Note when the measured time begins."""
        if event.get("event") == "phase" and event.get("name") == "load":
            self._begin_s = time.monotonic()
            self._begun.set()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._carry_out, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._begun.set()
        self._thread.join()
        if error is None and self._error is None:
            self.at_end = self._counts()
        if error is None and self._error is not None:
            raise self._error

    def _counts(self) -> dict[str, RelayCounts]:
        found = ((name, one.counts()) for name, one in self._disturbed.items())
        return {name: counts for name, counts in found if counts is not None}

    def _carry_out(self) -> None:
        self._begun.wait()
        try:
            if self._begin_s is not None:
                self.at_begin = self._counts()
                for one in self._faults:
                    self._fault(one, self._begin_s)
        except TouchstoneError as error:
            self._error = error

    def _fault(self, one: Disturbance, begin_s: float) -> None:
        target = self._disturbed[one.dependency]
        if self._over.wait(max(0.0, begin_s + one.at_s - time.monotonic())):
            return
        before = target.counts()
        with target.fault(one):
            began = time.time()
            self._over.wait(max(0.0, begin_s + one.end_s - time.monotonic()))
            after = target.counts()
        self.done.append(DoneFault(one, began, time.time(), before, after))
