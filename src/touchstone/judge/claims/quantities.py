"""Quantities that claims are about and that are not figures of their own: each is read from a sample's evidence."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from touchstone.judge.reading.dependencies import dependency_use
from touchstone.judge.reading.sessions import is_downstream
from touchstone.judge.reading.stretches import stretches
from touchstone.record.evidence.hold import HeldLevel
from touchstone.record.sample import Sample
from touchstone.vocabulary.figure import FIGURES

_FIRST = 20_000
"""Responses of a young process: about as many as a compiler waits for before its last stage."""


@dataclass(frozen=True)
class Quantity:
    """Something that one sample says."""

    name: str
    title: str
    unit: str
    """A base unit of vocabulary/figure.py, or `ratio`."""
    phase: str
    rests_on: str | None
    """The figure whose validity decides on this quantity's; None for one that has its own."""
    read: Callable[[Sample], float | None]
    follows: bool = False
    """True if what slows the service down moves it by the same factor, and in the same direction, as `rests_on`."""

    @property
    def moved_as(self) -> str | None:
        """The figure as which a disturbance moves it; None if that is not known."""
        figure = self.rests_on if self.follows else self.name
        return figure if figure in FIGURES and FIGURES[figure].better is not None else None


def _first_start(sample: Sample) -> float | None:
    starts = _starts(sample)
    return starts[0] if len(starts) > 1 else None


def _later_starts(sample: Sample) -> float | None:
    starts = _starts(sample)
    return statistics.median(starts[1:]) if len(starts) > 1 else None


def _starts(sample: Sample) -> list[float]:
    runs = sample.boot.runs if sample.boot else []
    return [r.first_response_s for r in runs if r.first_response_s and not r.failure and not r.cold_cache]


def _in_flight_share(sample: Sample) -> float | None:
    """Little's law: rate times mean latency is the mean number of requests in flight."""
    result = sample.result
    if result is None or not result.latency.mean or not result.connections.asked:
        return None
    return result.rate.achieved * result.latency.mean / result.connections.asked


def _p99_over_p50(sample: Sample) -> float | None:
    latency = sample.result.latency if sample.result else None
    return latency.p99 / latency.p50 if latency and latency.p99 and latency.p50 else None


def _dependency_cpu_share(sample: Sample) -> float | None:
    """The dependency's CPU time as a share of one CPU, as the article's `docker stats` counts it."""
    use = dependency_use(sample)
    return sum(use.cpu_s.values()) / use.elapsed_s if use.cpu_s and use.elapsed_s > 0 else None


def _dependency_ceiling(sample: Sample) -> float | None:
    ceilings = [d.ceiling for d in sample.dependencies if d.ceiling]
    return min(ceilings) if ceilings else None


def _sessions(sample: Sample) -> float | None:
    """Sessions that were opened at the database for each correct response."""
    opened = [d.after["sessions_opened"] - d.before.get("sessions_opened", 0.0)
              for d in sample.dependencies if "sessions_opened" in d.after]  # fmt: skip
    ok = sample.result.totals.ok if sample.result else 0
    return sum(opened) / ok if opened and ok else None


def _downstream_connections(sample: Sample) -> float | None:
    """Connections that were opened to the downstream for each correct response."""
    for state in sample.dependencies:
        if is_downstream(state):
            for name in ("connections_opened", "connections_accepted", "connections_total"):
                if name in state.after and sample.result and sample.result.totals.ok:
                    return (state.after[name] - state.before.get(name, 0.0)) / sample.result.totals.ok
    return None


def _warm_up_rate(sample: Sample) -> float | None:
    """Correct responses per second of own load, over the first `_FIRST` or a shorter warm-up."""
    ok, seconds = 0, 0.0
    for one in stretches(sample):
        if one.phase != "warmup" or ok >= _FIRST:
            break
        ok, seconds = ok + one.ok, seconds + one.seconds
    return ok / seconds if seconds > 0 else None


def _highest_level(sample: Sample) -> HeldLevel | None:
    levels = sample.hold.levels if sample.hold else []
    return max(levels, key=lambda level: level.connections, default=None)


def _highest_rss(sample: Sample) -> float | None:
    """RSS with the most connections open."""
    level = _highest_level(sample)
    return None if level is None or level.rss is None else float(level.rss)


def _highest_vm_peak(sample: Sample) -> float | None:
    """VmPeak with the most connections open."""
    level = _highest_level(sample)
    return None if level is None or level.vm_peak is None else float(level.vm_peak)


def _partition_spread(sample: Sample) -> float | None:
    """Messages in the fullest partition less those in the emptiest."""
    produced = list(sample.drain.produced.values()) if sample.drain else []
    return float(max(produced) - min(produced)) if len(produced) > 1 else None


_ALL = [
    Quantity("boot_first_start", "First start of a round", "s", "boot", "boot_first_response", _first_start),
    Quantity("boot_later_starts", "Later starts of a round", "s", "boot", "boot_first_response", _later_starts),
    Quantity("in_flight_share", "Requests in flight, of the connections", "share", "load", "latency_mean",
             _in_flight_share),
    Quantity("latency_p99_over_p50", "Latency p99 over p50", "ratio", "load", "latency_p99", _p99_over_p50),
    Quantity("dependency_cpu_share", "CPU of the dependencies", "share", "load", "throughput", _dependency_cpu_share,
             follows=True),
    Quantity("dependency_ceiling", "Requests a second that the dependency answers by itself", "1/s", "load",
             "throughput", _dependency_ceiling, follows=True),
    Quantity("sessions_per_request", "Database sessions opened a request", "ratio", "load", "throughput", _sessions),
    Quantity("downstream_connections_per_request", "Downstream connections opened a request", "ratio", "load",
             "throughput", _downstream_connections),
    Quantity("warm_up_rate", "Throughput of the first 20,000 responses", "1/s", "load", "throughput", _warm_up_rate,
             follows=True),
    Quantity("hold_rss_at_most_connections", "RSS at the highest level", "B", "hold", "hold_rss_per_connection",
             _highest_rss),
    Quantity("hold_vmpeak_at_most_connections", "VmPeak at the highest level", "B", "hold",
             "hold_vmpeak_per_connection", _highest_vm_peak),
    Quantity("partition_spread", "Messages, fullest less emptiest partition", "count", "drain", "drain_rate",
             _partition_spread),
]  # fmt: skip


def _figure(name: str) -> Callable[[Sample], float | None]:
    return lambda sample: sample.figures.get(name)


QUANTITIES: dict[str, Quantity] = {
    name: Quantity(name, f.title, f.unit.value, f.phase, None, _figure(name)) for name, f in FIGURES.items()
} | {quantity.name: quantity for quantity in _ALL}
"""All that a claim's `figure` may name: touchstone's figures, and these quantities."""
