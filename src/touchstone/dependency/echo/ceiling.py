"""The downstream's tare: the engine's load put straight at it."""

from __future__ import annotations

from touchstone.dependency.echo.process import ENGINE, RunningDownstream
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.manifest.load import Load
from touchstone.plan.placement import available_cpus
from touchstone.record.engine import LoadResult

_SECONDS = 2.0
_CONNECTIONS = {ENGINE: 1000}
"""200 requests in flight can never ask for more than 200 each delay. This many connections go to the engine's echo
so that its own CPU is the limit; at others 200, the most that a load of the scenario has."""


def measure_ceiling(downstream: RunningDownstream, cpus: tuple[int, ...]) -> float:
    """Correct responses per second. No contender runs meanwhile: the load comes from every CPU but the downstream's."""
    load = Load.model_validate(
        {
            "title": "the downstream by itself",
            "connections": _CONNECTIONS.get(downstream.kind.server, 200),
            "requests": [{"target": "/echo"}],
        }
    )
    other_cpus = [cpu for cpu in available_cpus() if cpu not in cpus] or list(cpus)
    timing = Timing(0.5, _SECONDS, 0.0)
    job = load_job(load, f"http://{downstream.address}", timing, cpus=other_cpus[:2], seed=1, fresh=None)
    result = run_job("load", job, LoadResult)
    return result.counts.ok / result.window.measured_s
