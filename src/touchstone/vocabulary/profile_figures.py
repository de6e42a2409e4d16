"""The figures of the phase `profile`: what a request costs, and makes happen, at a rate that all contenders serve."""

from __future__ import annotations

from touchstone.vocabulary.figure_shape import Better, Figure, Unit


def _counted(name: str, title: str, *, headline: bool = False, unit: Unit = Unit.COUNT) -> Figure:
    return Figure(name, title, unit, Better.LOWER, "profile", headline=headline)


PROFILE_FIGURES = [
    Figure(
        "profile_cpu",
        "CPU per request at a common rate",
        Unit.SECONDS,
        Better.LOWER,
        "profile",
        headline=True,
        phrase="CPU time per request at a common rate",
    ),
    Figure("profiler_cost", "CPU that the profiler adds", Unit.SHARE, Better.NEITHER, "profile"),
    Figure("profile_copy_cost", "CPU of the copy over the original's", Unit.SHARE, Better.NEITHER, "profile"),
    _counted("syscalls_per_request", "System calls per request", headline=True),
    _counted("user_instructions_per_request", "User instructions per request"),
    _counted("cpu_wait_per_request", "Waiting for a CPU per request", unit=Unit.SECONDS),
    _counted("voluntary_switches_per_request", "Voluntary context switches per request"),
    _counted("involuntary_switches_per_request", "Involuntary context switches per request"),
    _counted("minor_faults_per_request", "Minor page faults per request"),
    _counted("major_faults_per_request", "Major page faults per request"),
    _counted("read_per_request", "Bytes read per request", unit=Unit.BYTES),
    _counted("written_per_request", "Bytes written per request", unit=Unit.BYTES),
    _counted("collections_per_request", "Garbage collections per request"),
    _counted("allocated_per_request", "Bytes allocated per request", unit=Unit.BYTES),
]
