"""The figures that touchstone measures: one registry of names, units and directions.

A figure's value is in its base unit (seconds, bytes, 1/s, a share, a count); only `report` scales it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """The base unit of a figure."""

    SECONDS = "s"
    BYTES = "B"
    PER_SECOND = "1/s"
    SHARE = "share"
    COUNT = "count"


class Better(StrEnum):
    """Which direction is the better one."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


@dataclass(frozen=True)
class Figure:
    """A quantity that a phase measures."""

    name: str
    title: str
    unit: Unit
    better: Better
    phase: str
    headline: bool = False
    """True if it stands in the summary table."""


_ALL = [
    Figure("build_cold", "Build, cold", Unit.SECONDS, Better.LOWER, "build", headline=True),
    Figure("build_warm", "Build, warm", Unit.SECONDS, Better.LOWER, "build"),
    Figure("build_cpu", "Build, CPU", Unit.SECONDS, Better.LOWER, "build"),
    Figure("build_memory_peak", "Build's peak memory", Unit.BYTES, Better.LOWER, "build"),
    Figure("artifact_bytes", "Artifact", Unit.BYTES, Better.LOWER, "build", headline=True),
    Figure("train_time", "Training run for the AOT cache", Unit.SECONDS, Better.LOWER, "build"),
    Figure("extra_configuration_lines", "Lines of extra configuration", Unit.COUNT, Better.LOWER, "build"),
    Figure("footprint_bytes", "Footprint", Unit.BYTES, Better.LOWER, "footprint", headline=True),
    Figure("footprint_compressed", "Footprint, zstd -19", Unit.BYTES, Better.LOWER, "footprint"),
    Figure("footprint_image", "OCI image", Unit.BYTES, Better.LOWER, "footprint"),
    Figure("boot_first_response", "Exec to first response", Unit.SECONDS, Better.LOWER, "boot", headline=True),
    Figure("boot_port_open", "Exec to open port", Unit.SECONDS, Better.LOWER, "boot"),
    Figure("boot_first_response_cold", "Exec to first response, cold cache", Unit.SECONDS, Better.LOWER, "boot"),
    Figure("boot_cpu", "CPU to first response", Unit.SECONDS, Better.LOWER, "boot"),
    Figure("boot_rss", "RSS at first response", Unit.BYTES, Better.LOWER, "boot", headline=True),
    Figure("boot_pss", "PSS at first response", Unit.BYTES, Better.LOWER, "boot"),
    Figure("boot_anon", "Anonymous memory at first response", Unit.BYTES, Better.LOWER, "boot"),
    Figure("throughput", "Throughput", Unit.PER_SECOND, Better.HIGHER, "load", headline=True),
    Figure("latency_mean", "Latency, mean", Unit.SECONDS, Better.LOWER, "load"),
    Figure("latency_p50", "Latency p50", Unit.SECONDS, Better.LOWER, "load", headline=True),
    Figure("latency_p90", "Latency p90", Unit.SECONDS, Better.LOWER, "load"),
    Figure("latency_p95", "Latency p95", Unit.SECONDS, Better.LOWER, "load"),
    Figure("latency_p99", "Latency p99", Unit.SECONDS, Better.LOWER, "load", headline=True),
    Figure("latency_p99_9", "Latency p99.9", Unit.SECONDS, Better.LOWER, "load"),
    Figure("latency_max", "Latency, longest", Unit.SECONDS, Better.LOWER, "load"),
    Figure("service_p50", "Service time p50", Unit.SECONDS, Better.LOWER, "load"),
    Figure("service_p99", "Service time p99", Unit.SECONDS, Better.LOWER, "load"),
    Figure("cpu_per_request", "CPU a request", Unit.SECONDS, Better.LOWER, "load", headline=True),
    Figure("rss_peak", "RSS, peak under load", Unit.BYTES, Better.LOWER, "load", headline=True),
    Figure("pss_peak", "PSS, peak under load", Unit.BYTES, Better.LOWER, "load"),
    Figure("anon_peak", "Anonymous memory, peak under load", Unit.BYTES, Better.LOWER, "load"),
    Figure("cgroup_peak", "Cgroup memory, peak under load", Unit.BYTES, Better.LOWER, "load"),
    Figure("rss_after_load", "RSS after load", Unit.BYTES, Better.LOWER, "load"),
    Figure("rss_after_idle", "RSS after idle", Unit.BYTES, Better.LOWER, "load"),
    Figure("error_share", "Errors", Unit.SHARE, Better.LOWER, "load"),
    Figure("time_to_steady", "Time to steady state", Unit.SECONDS, Better.LOWER, "load"),
    Figure("knee_rate", "Highest rate within the objective", Unit.PER_SECOND, Better.HIGHER, "load"),
    Figure("peak_time", "Time to peak", Unit.SECONDS, Better.LOWER, "peak", headline=True),
    Figure("peak_rate", "Rate at the peak", Unit.PER_SECOND, Better.HIGHER, "peak", headline=True),
    Figure("peak_served_1s", "Served in the first second", Unit.COUNT, Better.HIGHER, "peak"),
    Figure("peak_served_10s", "Served in the first 10 s", Unit.COUNT, Better.HIGHER, "peak", headline=True),
    Figure("peak_served", "Served in the whole time since exec", Unit.COUNT, Better.HIGHER, "peak", headline=True),
    Figure("hold_rss_per_connection", "RSS a connection", Unit.BYTES, Better.LOWER, "hold", headline=True),
    Figure("hold_anon_per_connection", "Anonymous memory a connection", Unit.BYTES, Better.LOWER, "hold"),
    Figure("hold_kernel_per_connection", "Kernel memory a connection", Unit.BYTES, Better.LOWER, "hold"),
    Figure("hold_vmpeak_per_connection", "VmPeak a connection", Unit.BYTES, Better.NEITHER, "hold"),
    Figure("hold_rss_base", "RSS without connections", Unit.BYTES, Better.LOWER, "hold"),
    Figure("hold_given_back", "Memory given back after closing", Unit.SHARE, Better.HIGHER, "hold"),
    Figure("hold_connections", "Connections held", Unit.COUNT, Better.HIGHER, "hold"),
    Figure("drain_rate", "Drain", Unit.PER_SECOND, Better.HIGHER, "drain", headline=True),
    Figure("drain_time", "First message to last", Unit.SECONDS, Better.LOWER, "drain"),
    Figure("drain_first_from_exec", "Exec to first message", Unit.SECONDS, Better.LOWER, "drain"),
    Figure("drain_last_from_exec", "Exec to last message", Unit.SECONDS, Better.LOWER, "drain"),
    Figure("floor_passes", "Smallest memory limit that passes", Unit.BYTES, Better.LOWER, "floor", headline=True),
    Figure("floor_lives", "Smallest memory limit that lives", Unit.BYTES, Better.LOWER, "floor"),
    Figure("probe_must_wrong", "Conformance: MUST cases wrong", Unit.COUNT, Better.LOWER, "probe", headline=True),
    Figure("probe_should_wrong", "Conformance: SHOULD cases wrong", Unit.COUNT, Better.LOWER, "probe"),
    Figure("probe_right", "Conformance: cases right", Unit.COUNT, Better.HIGHER, "probe"),
]

FIGURES: dict[str, Figure] = {figure.name: figure for figure in _ALL}
"""All figures by name. A sample may hold only these."""
