"""Live figures of a run, from the engine's events and the finished samples: one registry for all exports."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge

from touchstone.engine.client import Event
from touchstone.record.sample import Sample
from touchstone.vocabulary.figure import FIGURES

_PLACE = ("phase", "round", "contender", "load")
_STAGED = (*_PLACE, "stage")
_QUANTILES = {"p50": "0.5", "p99": "0.99", "max": "1"}


class LiveMetrics:
    """Counters and gauges of a run. Every one has the phase, round, contender and load as labels, or "" for none."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._place: dict[str, str] = dict.fromkeys(_PLACE, "")
        self._stage = ""
        self._counted = (0, 0)
        self._requests = self._counter("requests", "Requests that ended.", "outcome")
        self._server_cpu = self._counter("server_cpu_seconds", "CPU time of the contender in its turns.")
        self._engine_cpu = self._counter("engine_cpu_seconds", "CPU time of the load generator in those turns.")
        self._latency = self._gauge("latency_seconds", "Latency in the newest turn.", (*_STAGED, "quantile"))
        self._rate = self._gauge("throughput_per_second", "Correct responses per second in the newest turn.", _STAGED)
        self._connections = self._gauge("connections", "Established connections.", _STAGED)
        self._queue = self._gauge("queued_requests", "Requests that are due and not sent.", _STAGED)
        self._figure = self._gauge("figure", "A figure of a finished measurement.", (*_PLACE, "figure", "unit"))
        self._measurements = self._gauge("measurements", "Measurements of the run.", ("state",))
        self.measurements = {"planned": 0, "done": 0}
        """The measurements of the run by state."""

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"touchstone_{name}", about, (*_STAGED, *labels), registry=self.registry)

    def _gauge(self, name: str, about: str, labels: tuple[str, ...]) -> Gauge:
        return Gauge(f"touchstone_{name}", about, labels, registry=self.registry)

    def planned(self, measurements: int, *, done: int | None = None) -> None:
        """A run has that number of measurements; with `done` a new one begins."""
        self.measurements["planned"] = measurements
        if done is not None:
            self.measurements["done"] = done
        self._show_measurements()

    def advance(self) -> None:
        """A measurement has ended."""
        self.measurements["done"] += 1
        self._show_measurements()

    def _show_measurements(self) -> None:
        for state, number in self.measurements.items():
            self._measurements.labels(state).set(number)

    def labels(self) -> dict[str, str]:
        """Where the run measures now."""
        return {**self._place, "stage": self._stage}

    def begins(self, place: Mapping[str, str]) -> None:
        """What follows is measured at this place, or on another contender there."""
        self._place, self._stage, self._counted = {**dict.fromkeys(_PLACE, ""), **place}, "", (0, 0)

    def event(self, event: Event) -> dict[str, str]:
        """Take up an event of the engine; the labels that it has."""
        match event.get("event"):
            case "phase":
                self._stage = str(event["name"])
            case "slice":
                return self._turn(event)
            case "progress":
                self._progress(event)
        return self.labels()

    def _turn(self, event: Event) -> dict[str, str]:
        contender = event["contender"] or self._place["contender"]
        labels = {**self._place, "contender": contender, "stage": str(event["lap_phase"])}
        self._count(labels, event.get("ok", 0), sum((event.get("errors") or {}).values()))
        self._server_cpu.labels(**labels).inc(event.get("server_cpu_s") or 0.0)
        self._engine_cpu.labels(**labels).inc(event.get("engine_cpu_s") or 0.0)
        if event.get("rate") is not None:
            self._rate.labels(**labels).set(float(event["rate"]))
        latency = event.get("latency") or {}
        for name, quantile in _QUANTILES.items():
            if latency.get(name) is not None:
                self._latency.labels(**labels, quantile=quantile).set(float(latency[name]))
        return labels

    def _progress(self, event: Event) -> None:
        labels = self.labels()
        self._connections.labels(**labels).set(event["held"] if "held" in event else event["connections"])
        if "ok" not in event:
            return
        self._queue.labels(**labels).set(event.get("queue", 0))
        counts = event["ok"], event["errors"]
        # The counts are those since the load's first request. The next load of a sample begins at 0 again.
        before = self._counted if all(map(int.__ge__, counts, self._counted)) else (0, 0)
        self._count(labels, counts[0] - before[0], counts[1] - before[1])
        self._counted = counts

    def _count(self, labels: Mapping[str, str], ok: int, errors: int) -> None:
        self._requests.labels(**labels, outcome="ok").inc(ok)
        self._requests.labels(**labels, outcome="error").inc(errors)

    def measured(self, place: Mapping[str, str], figures: Mapping[str, float]) -> None:
        """Take up the figures of a finished measurement, in base units."""
        whole = {**dict.fromkeys(_PLACE, ""), **place}
        for name, value in figures.items():
            self._figure.labels(**whole, figure=name, unit=str(FIGURES[name].unit)).set(value)


def place_of(sample: Sample) -> dict[str, str]:
    """Where a sample was measured, as labels."""
    number = "" if sample.round is None else str(sample.round)
    return {"phase": sample.phase, "round": number, "contender": sample.contender, "load": sample.load or ""}
