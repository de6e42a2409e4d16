"""A display that also exports its events."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from touchstone.engine.client import Event
from touchstone.metrics.export import LiveExport
from touchstone.metrics.live import place_of
from touchstone.record.sample import Sample
from touchstone.run.progress import Display


class ExportingDisplay:
    """Shows on another display, and exports to all places. Raises UsageError for a place that cannot be opened."""

    def __init__(self, shown: Display, wanted: list[str]) -> None:
        self._shown = shown
        self._export = LiveExport(wanted, shown.say)
        self._live = self._export.live

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.__exit__(kind, error, trace)
        self._export.places.flush()

    def close(self) -> None:
        """Close all places. The end of the process does so, too."""
        self._export.places.close()

    def total(self, steps: int) -> None:
        """See Display."""
        self._live.planned(steps, done=0)
        self._shown.total(steps)

    def longer(self, steps: int) -> None:
        """See Display."""
        self._live.planned(steps)
        self._shown.longer(steps)

    def stage(self, text: str) -> None:
        """See Display."""
        self._shown.stage(text)

    def step(self, text: str) -> None:
        """See Display."""
        self._shown.step(text)

    def advance(self) -> None:
        """See Display."""
        self._live.advance()
        self._shown.advance()

    def begins(self, sample: Sample) -> None:
        """See Display."""
        self._live.begins(place_of(sample))
        self._shown.begins(sample)

    def measured(self, sample: Sample) -> None:
        """See Display."""
        self._export.measured(place_of(sample), sample.figures)
        self._shown.measured(sample)

    def event(self, event: Event) -> None:
        """See Display."""
        self._export.event(event)
        self._shown.event(event)

    def say(self, text: str) -> None:
        """See Display."""
        self._shown.say(text)
