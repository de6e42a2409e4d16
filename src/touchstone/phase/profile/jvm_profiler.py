"""Which profiler samples a JVM."""

from __future__ import annotations

from touchstone.isolation.process import ServerProcess
from touchstone.phase.profile.async_profiler import AsyncProfiler
from touchstone.phase.profile.flight_recorder import FlightRecorder
from touchstone.phase.profile.profiler import Profiler, ProfilerError


def jvm_profiler(process: ServerProcess) -> Profiler:
    """async-profiler, made ready; JFR where it cannot be had. Raises ProfilerError if neither can: both reasons."""
    try:
        best = AsyncProfiler(process)
        best.prepare()
    except ProfilerError as error:
        return _recorder(process, error)
    return best


def _recorder(process: ServerProcess, refused: ProfilerError) -> Profiler:
    try:
        last = FlightRecorder(process, instead=refused)
        last.prepare()
    except ProfilerError as error:
        also = error.what.removeprefix("not measured: ")
        raise ProfilerError(f"{refused.what}; nor by JFR: {also}", fix=refused.fix) from error
    return last
