"""The figures by what makes them untrustworthy together."""

from __future__ import annotations

from touchstone.record.figure import FIGURES

LATENCY = [name for name, f in FIGURES.items() if f.phase == "load" and name.startswith(("latency_", "service_"))]
"""Latencies and service times under load."""

TAIL = ["latency_p99", "latency_p99_9", "latency_max", "service_p99"]
"""The latencies that a few late requests decide."""

PEAK = [name for name, f in FIGURES.items() if f.phase == "peak"]
"""What was served from exec on, and the peak that it led to."""

SPEED = ["throughput", *LATENCY, "knee_rate", *PEAK]
"""What a bottleneck elsewhere falsifies."""

CPU = ["cpu_per_request"]

MEMORY = [
    "rss_peak",
    "pss_peak",
    "anon_peak",
    "cgroup_peak",
    "rss_after_load",
    "rss_after_idle",
]
"""The server's memory under load."""

BOOT_TIME = ["boot_first_response", "boot_port_open", "boot_first_response_cold"]

EXACT = {
    "artifact_bytes",
    "extra_configuration_lines",
    "footprint_bytes",
    "footprint_compressed",
    "footprint_image",
    "probe_must_wrong",
    "probe_should_wrong",
    "probe_right",
}
"""Figures that are counted and not sampled: the same input gives the same value, so one measurement is enough."""
