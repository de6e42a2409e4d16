"""Selects the memory readings of a process tree that figures and rules use."""

from __future__ import annotations

from touchstone.record.watch import Watch, WatchPoint


def loaded_points(watch: Watch) -> list[WatchPoint]:
    """The samples under load, warm-up and the pauses between slices included."""
    return [point for point in watch.series if point.phase != "idle"]


def several_processes(watch: Watch) -> bool:
    """Whether the tree had more than one process at any time under load."""
    return any((point.processes or 0) > 1 for point in loaded_points(watch))


def peak_memory(watch: Watch) -> int | None:
    """The most memory under load in bytes: RSS of a single process, the footprint of several; None if not read."""
    several = several_processes(watch)
    at_window = watch.window.footprint_peak if several else watch.window.rss_peak
    points = [point.footprint if several else point.rss for point in loaded_points(watch)]
    return max((value for value in (*points, at_window) if value is not None), default=None)


def peak_rss(watch: Watch) -> int | None:
    """The highest sum of the processes' RSS under load in bytes, shared pages counted in each. None if not read."""
    points = [point.rss for point in loaded_points(watch)]
    return max((value for value in (*points, watch.window.rss_peak) if value is not None), default=None)
