"""Computes the figures of a load from the engine's result, without judging them."""

from __future__ import annotations

from collections.abc import Sequence

from touchstone.record.engine import LoadResult, TlsUse
from touchstone.record.events import Events
from touchstone.record.evidence.slices import Slice
from touchstone.record.memory import loaded_points, peak_memory, several_processes
from touchstone.record.sample import Sample
from touchstone.record.watch import Watch

_LATENCY = {
    "latency_mean": "mean",
    "latency_p50": "p50",
    "latency_p90": "p90",
    "latency_p95": "p95",
    "latency_p99": "p99",
    "latency_p99_9": "p99_9",
    "latency_max": "max",
}
_ENOUGH_FOR = {"latency_p99": 1_000, "latency_p99_9": 10_000}
"""A percentile needs about ten samples beyond it before it says anything."""


WATCHED = ("rss_peak", "rss_after_load", "rss_after_idle", "pss_peak", "anon_peak", "cgroup_peak", "cpu_per_request")
"""What is read of the contender's processes."""


def load_figures(result: LoadResult, unwatched: str | None = None) -> tuple[dict[str, float], dict[str, str]]:
    """Return figures in base units, and the reason for each figure that is missing.

    `unwatched` tells why nobody could watch the contender's processes, where that is so.
    """
    figures: dict[str, float] = {}
    missing: dict[str, str] = {}
    counts = result.counts
    answered = counts.completed + counts.failed
    if result.window.measured_s > 0:
        figures["throughput"] = result.rate.achieved
        if result.journeys:
            figures["journey_rate"] = sum(one.completed for one in result.journeys) / result.window.measured_s
    if counts.sent:
        figures["error_share"] = counts.error_share
    for name, attribute in _LATENCY.items():
        value = getattr(result.latency, attribute)
        if value is None:
            missing[name] = "no request was answered"
        elif result.latency.count < _ENOUGH_FOR.get(name, 1):
            missing[name] = f"{result.latency.count} requests are too few; it needs {_ENOUGH_FOR[name]}"
        else:
            figures[name] = value
    for name, value in (("service_p50", result.service.p50), ("service_p99", result.service.p99)):
        if value is not None:
            figures[name] = value
    figures |= _event_figures(result.events) | _handshake_figures(result.tls)
    if result.watch is None:
        missing |= dict.fromkeys(WATCHED, unwatched or "the process tree was not watched")
    else:
        _memory(result.watch, figures, missing)
    cpu = result.watch.window.cpu_s if result.watch else None
    if cpu is not None and answered:
        figures["cpu_per_request"] = cpu / answered
    return figures, missing


def _handshake_figures(use: TlsUse | None) -> dict[str, float]:
    """Handshakes of the whole load, warm-up included; none without TLS."""
    return {} if use is None else {"handshakes": float(use.full), "resumptions": float(use.resumed)}


def _event_figures(events: Events | None) -> dict[str, float]:
    """The figures of streamed responses, if there are any. A time that no event had is left out."""
    if events is None:
        return {}
    times = {
        "first_event_p50": events.first.p50,
        "first_event_p99": events.first.p99 if events.first.count >= _ENOUGH_FOR["latency_p99"] else None,
        "event_gap_p50": events.gap.p50,
        "event_gap_p99": events.gap.p99 if events.gap.count >= _ENOUGH_FOR["latency_p99"] else None,
        "event_gap_max": events.gap.max,
        "event_delay_p50": events.delay.p50,
        "event_delay_p99": events.delay.p99 if events.delay.count >= _ENOUGH_FOR["latency_p99"] else None,
    }
    counts = {
        "events_per_s": events.rate,
        "events_lost": float(events.lost),
        "events_doubled": float(events.doubled),
        "events_disordered": float(events.disordered),
    }
    return {name: value for name, value in times.items() if value is not None} | counts


def keep_figures(sample: Sample, found: tuple[dict[str, float], dict[str, str]]) -> None:
    """Store a load's figures in the sample with its result."""
    assert sample.result is not None  # the load is over
    sample.figures, sample.not_measured = found
    window = sample.result.watch.window if sample.result.watch else None
    if sample.process.placement.cpu_limit is not None:
        # In how many of the periods that it had work in it used its limit up.
        if window is None or not window.periods:
            sample.not_measured["throttled_share"] = "the kernel counted no periods of its cgroup"
        else:
            sample.figures["throttled_share"] = (window.throttled_periods or 0) / window.periods
    sample.remarks = memory_remarks(sample.result)


def sliced_figures(
    result: LoadResult, slices: Sequence[Slice], unwatched: str | None = None
) -> tuple[dict[str, float], dict[str, str]]:
    """The figures of a load in slices: CPU counts in the contender's own slices, and far tails are not given.

    A slice leaves out its first requests, and a collector may work between slices: a percentile beyond the 99th would
    be that of a service which is given rest every quarter of a second.
    """
    figures, missing = load_figures(result, unwatched)
    measured = [one for one in slices if one.lap_phase == "load"]
    used = [(one.server_cpu_s, one.completed) for one in measured if one.server_cpu_s is not None]
    answered = sum(completed for _, completed in used)
    figures.pop("cpu_per_request", None)
    if answered:
        figures["cpu_per_request"] = sum(cpu for cpu, _ in used if cpu is not None) / answered
    for name in ("latency_p99_9", "latency_max"):
        if figures.pop(name, None) is not None:
            missing[name] = "slices do not show it, since between them the service rests; --whole-windows does"
    if not any(one.rate is not None for one in measured):
        figures.pop("throughput", None)
        missing["throughput"] = "no slice was long enough for two responses on each connection"
    return figures, missing


def _memory(watch: Watch, figures: dict[str, float], missing: dict[str, str]) -> None:
    for name, attribute in (("pss_peak", "pss"), ("anon_peak", "anon"), ("cgroup_peak", "cgroup_memory")):
        values = [value for point in loaded_points(watch) if (value := getattr(point, attribute)) is not None]
        if values:
            figures[name] = float(max(values))
    for name, value in (
        ("rss_peak", peak_memory(watch)),
        ("rss_after_load", watch.at_load_end.held if watch.at_load_end else None),
        ("rss_after_idle", watch.at_idle_end.held if watch.at_idle_end else None),
    ):
        if value is not None:
            figures[name] = float(value)
        elif several_processes(watch):
            missing[name] = "several processes share pages, and the kernel did not say which (smaps_rollup)"


def memory_remarks(result: LoadResult) -> dict[str, str]:
    """Return, by figure, why a memory figure is not the RSS that its title names."""
    watch = result.watch
    if watch is None or not several_processes(watch):
        return {}
    reason = "of several processes: pages that they share count once (sum of PSS), not once per process"
    return dict.fromkeys(("rss_peak", "rss_after_load", "rss_after_idle"), reason)
