"""Ending a service that has clients, by the engine's stop job."""

from __future__ import annotations

from touchstone.bench.service import StartedService
from touchstone.engine.client import run_job
from touchstone.engine.job import tls
from touchstone.engine.protocol import StopJob
from touchstone.record.evidence.stop import StopResult


def stop_job(running: StartedService, within_s: float) -> StopJob:
    """A stop job for a service that runs, which is given `within_s` seconds to end. Without requests and clients."""
    return {
        "url": running.url,
        "protocol": running.spoken.protocol,
        "tls": tls(running.spoken),
        "pid": running.pid,
        "requests": [],
        "timeout_s": within_s,
    }


def stop_service(running: StartedService, job: StopJob) -> StopResult:
    """What became of the service's clients. It has had SIGTERM then, unless the result names a failure."""
    result = run_job("stop", job, StopResult)
    result.job = {}
    if result.failure is None:
        running.stopped_for_s = job["timeout_s"] if result.stop_s is None else result.stop_s
    return result
