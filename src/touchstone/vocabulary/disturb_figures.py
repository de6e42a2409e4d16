"""The figures of the phase `disturb`: requests while a dependency fails, and what is left over afterwards."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, Figure, Unit

DISTURB_FIGURES = [
    Figure(
        "disturb_errors",
        "Errors while the dependency fails",
        Unit.SHARE,
        Better.LOWER,
        "disturb",
        headline=True,
        scored=True,
        phrase="the share of requests that need the dependency and fail with it",
    ),
    Figure(
        "disturb_p99",
        "p99 while the dependency fails",
        Unit.SECONDS,
        Better.LOWER,
        "disturb",
        headline=True,
        scored=True,
        phrase="p99 of the requests that need the dependency while it fails",
    ),
    Figure(
        "disturb_other_errors",
        "Errors of other requests meanwhile",
        Unit.SHARE,
        Better.LOWER,
        "disturb",
        headline=True,
        phrase="the share of requests that do not need the dependency and fail with it",
    ),
    Figure(
        "disturb_other_p99",
        "p99 of other requests meanwhile",
        Unit.SECONDS,
        Better.LOWER,
        "disturb",
        headline=True,
        phrase="p99 of the requests that do not need the dependency while it fails",
    ),
    Figure(
        "disturb_recovery",
        "Recovery after the fault",
        Unit.SECONDS,
        Better.LOWER,
        "disturb",
        headline=True,
        scored=True,
        leads=True,
        phrase="the time to recover once the dependency is back",
    ),
    Figure("disturb_amplification", "Load on the failing dependency", Unit.SHARE, Better.LOWER, "disturb"),
    Figure("disturb_sessions_left", "Sessions left over", Unit.COUNT, Better.LOWER, "disturb"),
    Figure("disturb_threads_left", "Threads left over", Unit.COUNT, Better.LOWER, "disturb"),
    Figure("disturb_work_lost", "Work lost", Unit.COUNT, Better.LOWER, "disturb"),
    Figure("disturb_work_doubled", "Work done twice", Unit.COUNT, Better.LOWER, "disturb"),
]
