"""The figures that touchstone measures, each declared once: its unit and direction, its words, its phase.

A figure's value is in its base unit (seconds, bytes, 1/s, a share, a count); only `report` scales it.
"""

from __future__ import annotations

from touchstone.vocabulary.bounds_figures import BOUNDS_FIGURES
from touchstone.vocabulary.disturb_figures import DISTURB_FIGURES
from touchstone.vocabulary.drain_figures import DRAIN_FIGURES
from touchstone.vocabulary.figure_shape import Better, CountWords, Figure, FigureGroup, Unit
from touchstone.vocabulary.hold_figures import HOLD_FIGURES
from touchstone.vocabulary.profile_figures import PROFILE_FIGURES
from touchstone.vocabulary.stop_figures import STOP_FIGURES
from touchstone.vocabulary.stream_figures import STREAM_FIGURES
from touchstone.vocabulary.traffic_figures import TRAFFIC_FIGURES

__all__ = ["FIGURES", "RETIRED", "Better", "CountWords", "Figure", "FigureGroup", "Unit", "figures_of"]

_LATENCY = frozenset({FigureGroup.LATENCY, FigureGroup.SPEED})
_TAIL = _LATENCY | {FigureGroup.TAIL}
_PEAK = frozenset({FigureGroup.PEAK, FigureGroup.SPEED})
_SPEED = frozenset({FigureGroup.SPEED})
_CPU = frozenset({FigureGroup.CPU})
_MEMORY = frozenset({FigureGroup.MEMORY})
_BOOT_TIME = frozenset({FigureGroup.BOOT_TIME})
_EXACT = frozenset({FigureGroup.EXACT})

_ALL = [
    Figure(
        "build_cold",
        "Build, cold",
        Unit.SECONDS,
        Better.LOWER,
        "build",
        headline=True,
        leads=True,
        phrase="the time of a cold build",
    ),
    Figure("build_warm", "Build, warm", Unit.SECONDS, Better.LOWER, "build", phrase="the time of a warm build"),
    Figure("build_cpu", "Build, CPU", Unit.SECONDS, Better.LOWER, "build", phrase="the CPU time of a build"),
    Figure("install_time", "Installation of dependencies", Unit.SECONDS, Better.LOWER, "build"),
    Figure("build_memory_peak", "Build's peak memory", Unit.BYTES, Better.LOWER, "build"),
    Figure(
        "artifact_bytes",
        "Artifact",
        Unit.BYTES,
        Better.LOWER,
        "build",
        headline=True,
        scored=True,
        phrase="the artifact's size",
        groups=_EXACT,
    ),
    Figure("train_time", "Training run for the AOT cache", Unit.SECONDS, Better.LOWER, "build"),
    Figure(
        "extra_configuration_lines", "Lines of extra configuration", Unit.COUNT, Better.LOWER, "build", groups=_EXACT
    ),
    Figure(
        "footprint_bytes",
        "Footprint",
        Unit.BYTES,
        Better.LOWER,
        "footprint",
        headline=True,
        scored=True,
        leads=True,
        groups=_EXACT,
    ),
    Figure("footprint_compressed", "Footprint, zstd -19", Unit.BYTES, Better.LOWER, "footprint", groups=_EXACT),
    Figure("footprint_image", "OCI image", Unit.BYTES, Better.LOWER, "footprint", groups=_EXACT),
    Figure(
        "boot_first_response",
        "Exec to first response",
        Unit.SECONDS,
        Better.LOWER,
        "boot",
        headline=True,
        scored=True,
        leads=True,
        phrase="the time from exec to the first response",
        groups=_BOOT_TIME,
    ),
    Figure(
        "boot_runtime",
        "Container runtime's share",
        Unit.SECONDS,
        Better.LOWER,
        "boot",
        headline=True,
        phrase="the container runtime's share of the start",
        groups=_BOOT_TIME,
    ),
    Figure(
        "boot_port_open",
        "Exec to open port",
        Unit.SECONDS,
        Better.LOWER,
        "boot",
        phrase="the time from exec to an open port",
        groups=_BOOT_TIME,
    ),
    Figure(
        "boot_first_response_cold",
        "Exec to first response, cold cache",
        Unit.SECONDS,
        Better.LOWER,
        "boot",
        phrase="the time from exec to the first response with a cold cache",
        groups=_BOOT_TIME,
    ),
    Figure(
        "boot_cpu", "CPU to first response", Unit.SECONDS, Better.LOWER, "boot", phrase="CPU time to the first response"
    ),
    Figure("boot_rss", "RSS at first response", Unit.BYTES, Better.LOWER, "boot", headline=True),
    Figure("boot_pss", "PSS at first response", Unit.BYTES, Better.LOWER, "boot"),
    Figure("boot_anon", "Anonymous memory at first response", Unit.BYTES, Better.LOWER, "boot"),
    Figure(
        "throughput",
        "Throughput",
        Unit.PER_SECOND,
        Better.HIGHER,
        "load",
        headline=True,
        scored=True,
        leads=True,
        counted=CountWords("answers", "requests per second", "fewer", "more"),
        groups=_SPEED,
    ),
    Figure("latency_mean", "Latency, mean", Unit.SECONDS, Better.LOWER, "load", phrase="mean latency", groups=_LATENCY),
    Figure("latency_p50", "Latency p50", Unit.SECONDS, Better.LOWER, "load", headline=True, groups=_LATENCY),
    Figure("latency_p90", "Latency p90", Unit.SECONDS, Better.LOWER, "load", groups=_LATENCY),
    Figure("latency_p95", "Latency p95", Unit.SECONDS, Better.LOWER, "load", groups=_LATENCY),
    Figure(
        "latency_p99",
        "Latency p99",
        Unit.SECONDS,
        Better.LOWER,
        "load",
        headline=True,
        scored=True,
        leads=True,
        groups=_TAIL,
    ),
    Figure("latency_p99_9", "Latency p99.9", Unit.SECONDS, Better.LOWER, "load", groups=_TAIL),
    Figure(
        "latency_max",
        "Latency, longest",
        Unit.SECONDS,
        Better.LOWER,
        "load",
        phrase="the longest latency",
        groups=_TAIL,
    ),
    *TRAFFIC_FIGURES,
    *STREAM_FIGURES,
    Figure("service_p50", "Service time p50", Unit.SECONDS, Better.LOWER, "load", groups=_LATENCY),
    Figure("service_p99", "Service time p99", Unit.SECONDS, Better.LOWER, "load", groups=_TAIL),
    Figure(
        "cpu_per_request",
        "CPU per request",
        Unit.SECONDS,
        Better.LOWER,
        "load",
        headline=True,
        scored=True,
        phrase="CPU time per request",
        groups=_CPU,
    ),
    Figure(
        "rss_peak",
        "RSS, peak under load",
        Unit.BYTES,
        Better.LOWER,
        "load",
        headline=True,
        scored=True,
        leads=True,
        phrase="peak RSS under load",
        groups=_MEMORY,
    ),
    Figure(
        "pss_peak",
        "PSS, peak under load",
        Unit.BYTES,
        Better.LOWER,
        "load",
        phrase="peak PSS under load",
        groups=_MEMORY,
    ),
    Figure(
        "anon_peak",
        "Anonymous memory, peak under load",
        Unit.BYTES,
        Better.LOWER,
        "load",
        phrase="peak anonymous memory under load",
        groups=_MEMORY,
    ),
    Figure(
        "cgroup_peak",
        "Cgroup memory, peak under load",
        Unit.BYTES,
        Better.LOWER,
        "load",
        phrase="peak cgroup memory under load",
        groups=_MEMORY,
    ),
    Figure("rss_after_load", "RSS after load", Unit.BYTES, Better.LOWER, "load", groups=_MEMORY),
    Figure("rss_after_idle", "RSS after idle", Unit.BYTES, Better.LOWER, "load", groups=_MEMORY),
    Figure("error_share", "Errors", Unit.SHARE, Better.LOWER, "load", phrase="the share of errors"),
    Figure(
        "throttled_share",
        "Periods cut short by the CPU limit",
        Unit.SHARE,
        Better.NEITHER,
        "load",
        phrase="the share of periods that the CPU limit cut short",
    ),
    Figure("time_to_steady", "Time to steady state", Unit.SECONDS, Better.LOWER, "load"),
    Figure(
        "capacity",
        "Capacity",
        Unit.PER_SECOND,
        Better.HIGHER,
        "capacity",
        headline=True,
        scored=True,
        leads=True,
    ),
    Figure(
        "streams_sustained",
        "Streams sustained",
        Unit.COUNT,
        Better.HIGHER,
        "capacity",
        headline=True,
        phrase="the number of streams at once within the objective",
    ),
    Figure(
        "goodput_2x",
        "Goodput at twice the capacity",
        Unit.SHARE,
        Better.HIGHER,
        "capacity",
        headline=True,
        phrase="the share of its capacity that it answers in time at twice the capacity",
    ),
    Figure("recovery_time", "Recovery after a burst", Unit.SECONDS, Better.LOWER, "capacity", headline=True),
    Figure(
        "smallest_burst",
        "Shortest burst without recovery",
        Unit.SECONDS,
        Better.HIGHER,
        "capacity",
        phrase="the shortest burst of twice the capacity without recovery",
    ),
    *(
        Figure(
            f"capacity_{name}_{share}",
            f"{title} at {share} % of the smallest capacity",
            unit,
            Better.LOWER,
            "capacity",
            headline=share == 50,
        )
        for share in (10, 50, 80)
        for name, title, unit in (("cpu", "CPU per request", Unit.SECONDS), ("rss", "RSS", Unit.BYTES))
    ),
    Figure(
        "peak_time",
        "Time to peak",
        Unit.SECONDS,
        Better.LOWER,
        "peak",
        headline=True,
        leads=True,
        phrase="the time to peak",
        groups=_PEAK,
    ),
    Figure(
        "peak_rate",
        "Rate at the peak",
        Unit.PER_SECOND,
        Better.HIGHER,
        "peak",
        headline=True,
        phrase="the rate at the peak",
        groups=_PEAK,
    ),
    Figure(
        "peak_served_1s",
        "Served in the first second",
        Unit.COUNT,
        Better.HIGHER,
        "peak",
        counted=CountWords("serves", "requests in the first second", "fewer", "more"),
        groups=_PEAK,
    ),
    Figure(
        "peak_served_10s",
        "Served in the first 10 s",
        Unit.COUNT,
        Better.HIGHER,
        "peak",
        headline=True,
        counted=CountWords("serves", "requests in the first 10 s", "fewer", "more"),
        groups=_PEAK,
    ),
    Figure(
        "peak_served",
        "Served in the whole time since exec",
        Unit.COUNT,
        Better.HIGHER,
        "peak",
        headline=True,
        scored=True,
        leads=True,
        counted=CountWords("serves", "requests in the whole time since exec", "fewer", "more"),
        groups=_PEAK,
    ),
    *HOLD_FIGURES,
    *DRAIN_FIGURES,
    *STOP_FIGURES,
    *DISTURB_FIGURES,
    *BOUNDS_FIGURES,
    Figure(
        "floor_passes",
        "Smallest memory limit that passes",
        Unit.BYTES,
        Better.LOWER,
        "floor",
        headline=True,
        scored=True,
        leads=True,
    ),
    Figure("floor_lives", "Smallest memory limit that lives", Unit.BYTES, Better.LOWER, "floor"),
    Figure(
        "probe_dangerous",
        "MUST requirements broken, dangerous",
        Unit.COUNT,
        Better.LOWER,
        "probe",
        headline=True,
        scored=True,
        leads=True,
        groups=_EXACT,
    ),
    Figure(
        "probe_breaks", "MUST requirements broken, breaks clients", Unit.COUNT, Better.LOWER, "probe", groups=_EXACT
    ),
    Figure(
        "probe_unclear", "MUST requirements broken, unclear refusal", Unit.COUNT, Better.LOWER, "probe", groups=_EXACT
    ),
    Figure(
        "probe_must_broken", "MUST requirements broken", Unit.COUNT, Better.LOWER, "probe", headline=True, groups=_EXACT
    ),
    Figure("probe_should_broken", "SHOULD requirements broken", Unit.COUNT, Better.LOWER, "probe", groups=_EXACT),
    Figure(
        "probe_kept",
        "Requirements of HTTP kept",
        Unit.COUNT,
        Better.HIGHER,
        "probe",
        counted=CountWords("keeps", "requirements of HTTP", "fewer", "more"),
        groups=_EXACT,
    ),
    *PROFILE_FIGURES,
]

FIGURES: dict[str, Figure] = {figure.name: figure for figure in _ALL}
"""All figures by name. A sample may hold only these."""

RETIRED = frozenset({"probe_must_wrong", "probe_should_wrong", "probe_right"})
"""What earlier versions recorded under names that now mean nothing: left aside on reading. These three counted cases of
conformance, where requirements are counted today."""


def figures_of(group: FigureGroup) -> list[str]:
    """The names of a group's figures, in the order of their declaration."""
    return [name for name, figure in FIGURES.items() if group in figure.groups]
