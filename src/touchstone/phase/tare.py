"""The tare: the same load on the null server. It tells the ceiling of engine, kernel and machine, and their drift."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from touchstone.engine.client import EngineError, run_job
from touchstone.engine.job import load_job
from touchstone.engine.locate import engine_path
from touchstone.isolation.child import end_child, start_child
from touchstone.manifest.load import Load
from touchstone.phase.base import Bench, attempt, blank_sample
from touchstone.phase.load_figures import load_figures
from touchstone.phase.peak import peak_load
from touchstone.record.engine import LoadResult
from touchstone.record.sample import TARE, Sample

_PATIENCE_S = 10.0


def measure_tare(bench: Bench, round_number: int) -> list[Sample]:
    """One sample a load. The round is the one that it precedes; after the last round it is one more."""
    return [
        _measure(bench, load, blank_sample(bench, "load", TARE, load=name, round_number=round_number))
        for name, load in bench.loads.items()
    ]


def measure_peak_tare(bench: Bench, round_number: int) -> list[Sample]:
    """The tare of the peak phase, whose load need not be one of the run's loads."""
    _, load = peak_load(bench)
    sample = _measure(bench, load, blank_sample(bench, "peak", TARE, round_number=round_number))
    # It stands beside contenders whose rate after the start is what counts, and has no latency to be compared with.
    sample.figures = {"peak_rate": sample.result.rate.achieved} if sample.result else {}
    return [sample]


def _measure(bench: Bench, load: Load, sample: Sample) -> Sample:
    sample.load_spec = load.model_dump(mode="json", by_alias=True)
    round_number = sample.round or 1

    def action(sample: Sample) -> None:
        bench.watcher.step(f"tare: {sample.load or sample.phase}")
        with server("null", [f"--status={_status(load)}"], bench.placement.server_cpus) as listening:
            timing = bench.profile.tare_timing(bench.profile.timing(load, round_number))
            job = load_job(
                load, f"http://{listening['listening']}", timing, cpus=bench.placement.engine_cpus, seed=bench.seed
            )
            for request in job["requests"]:
                request["expect"] = {"status": [_status(load)], "body": {"kind": "any"}}
            job["watch"] = {"pid": listening["pid"], "cgroup_paths": [], "interval_s": 0.1, "after_s": 0.0}
            sample.result = run_job("load", job, LoadResult, on_event=bench.watcher.event)
            sample.figures, sample.not_measured = load_figures(sample.result)

    return attempt(sample, action)


def _status(load: Load) -> int:
    """The null server answers every request of a load alike: with the status that the first one expects."""
    return load.requests[0].expect.statuses[0]


@contextmanager
def server(kind: str, arguments: Sequence[str], cpus: Sequence[int]) -> Iterator[dict[str, Any]]:
    """One of the engine's own servers on a free port; gives its address and its process id."""
    command = [str(engine_path()), kind, "--port=0", f"--cpus={','.join(map(str, cpus))}", *arguments]
    process = start_child(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None  # it was asked for as a pipe
        ready, _, _ = select.select([process.stdout], [], [], _PATIENCE_S)
        line = process.stdout.readline() if ready else ""
        if not line:
            raise EngineError(f"the engine's {kind} server did not start", mend="run it by hand: " + " ".join(command))
        yield json.loads(line)
    finally:
        end_child(process)
