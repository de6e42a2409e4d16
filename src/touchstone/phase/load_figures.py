"""Takes the figures of a load from what the engine measured: arithmetic only, no judgement."""

from __future__ import annotations

from touchstone.record.engine import LoadResult

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


def load_figures(result: LoadResult) -> tuple[dict[str, float], dict[str, str]]:
    """Figures in base units, and for each that could not be measured the reason."""
    figures: dict[str, float] = {}
    missing: dict[str, str] = {}
    counts = result.counts
    answered = counts.completed + counts.errors.total
    if result.window.measured_s > 0:
        figures["throughput"] = result.rate.achieved
    if counts.sent:
        figures["error_share"] = (counts.errors.total + counts.unanswered) / counts.sent
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
    _memory(result, figures, missing)
    cpu = result.watch.window.cpu_s if result.watch else None
    if cpu is not None and answered:
        figures["cpu_per_request"] = cpu / answered
    return figures, missing


def _memory(result: LoadResult, figures: dict[str, float], missing: dict[str, str]) -> None:
    watch = result.watch
    if watch is None:
        missing["rss_peak"] = "the process tree was not watched"
        return
    loaded = [point for point in watch.series if point.phase in {"warmup", "load"}]
    for name, attribute in (
        ("rss_peak", "rss"),
        ("pss_peak", "pss"),
        ("anon_peak", "anon"),
        ("cgroup_peak", "cgroup_memory"),
    ):
        values = [value for point in loaded if (value := getattr(point, attribute)) is not None]
        if values:
            figures[name] = float(max(values))
    if watch.window.rss_peak is not None:
        figures["rss_peak"] = max(figures.get("rss_peak", 0.0), float(watch.window.rss_peak))
    if watch.at_load_end and watch.at_load_end.rss is not None:
        figures["rss_after_load"] = float(watch.at_load_end.rss)
    if watch.at_idle_end and watch.at_idle_end.rss is not None:
        figures["rss_after_idle"] = float(watch.at_idle_end.rss)
