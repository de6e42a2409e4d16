"""Live figures and events of a run, exported to all places."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from touchstone.engine.client import Event
from touchstone.metrics.live import LiveMetrics
from touchstone.metrics.page import LivePage
from touchstone.metrics.places import ExportPlaces


class LiveExport:
    """The live figures and the open places. Raises UsageError for a place that cannot be opened."""

    def __init__(self, wanted: list[str], say: Callable[[str], None]) -> None:
        self.live = LiveMetrics()
        self._page = LivePage(self.live)
        self.places = ExportPlaces(wanted, self.live.registry, self._page, say)

    def event(self, event: Event) -> None:
        """Export an event of the engine."""
        labels = self.live.event(event)
        self._page.event(event, labels)
        self.places.write({**event, **labels})

    def measured(self, place: Mapping[str, str], figures: Mapping[str, float]) -> None:
        """Export the figures of a finished measurement, in base units."""
        self.live.measured(place, figures)
        self.places.write({"event": "figures", **place, "figures": figures})
