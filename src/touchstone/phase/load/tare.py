"""The tare: the same load on the null server. It tells the ceiling of engine, kernel and machine, and their drift."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager

from touchstone.bench.base import Bench, attempt, blank_sample
from touchstone.bench.tare import EngineServer, server
from touchstone.engine.bare import AnyRequest, without_outside
from touchstone.engine.job import load_job
from touchstone.manifest.exchange import Expectation
from touchstone.manifest.load import Load
from touchstone.phase.load.figures import load_figures
from touchstone.record.sample import TARE, Sample


def measure_tare(bench: Bench, round_number: int, loads: Collection[str]) -> list[Sample]:
    """One sample for each of these loads. The round is the one that it precedes; after the last it is one more."""
    return [
        load_null_server(
            bench, load, blank_sample(bench, "load", TARE, load=name, under=load, round_number=round_number)
        )
        for name, load in bench.loads.items()
        if name in loads
    ]


def load_null_server(bench: Bench, load: Load, sample: Sample) -> Sample:
    """Fill the sample with the load on the null server."""
    round_number = sample.round or 1

    def action(sample: Sample) -> None:
        bench.watcher.step(f"tare: {sample.load or sample.phase}")
        with null_server(bench, load) as null:
            timing = bench.profile.tare_timing(bench.profile.timing(load, round_number))
            cpus = bench.placement.engine_cpus
            job = load_job(null_load(load), null.url, timing, cpus=cpus, seed=bench.seed, fresh=None)
            job["watch"] = null.watch
            sample.result = bench.put_load(job)
            sample.figures, sample.not_measured = load_figures(sample.result)

    return attempt(sample, action)


def null_server(bench: Bench, load: Load) -> AbstractContextManager[EngineServer]:
    """The null server that answers as a load expects."""
    return server("null", [f"--status={_status(load)}"], bench.placement.server_cpus, bench.generators.host)


def null_load(load: Load) -> Load:
    """The load as the null server can answer it: nothing is taken from rows and responses, and any body is correct."""
    expect = Expectation(status=_status(load))
    requests = [_accepting(wanted, expect) for wanted in load.requests]
    journeys = [
        journey.model_copy(
            update={"steps": [_accepting(step, expect).model_copy(update={"captures": {}}) for step in journey.steps]}
        )
        for journey in load.journeys
    ]
    return load.model_copy(update={"requests": requests, "journeys": journeys, "rows": None})


def _accepting(wanted: AnyRequest, expect: Expectation) -> AnyRequest:
    return without_outside(wanted).model_copy(update={"expect": expect})


def _status(load: Load) -> int:
    """The null server answers every request of a load alike: with the status that the first one expects."""
    return load.all_requests[0].expect.statuses[0]
