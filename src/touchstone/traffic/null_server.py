"""The engine's own servers, and the null server that a tare is measured against: it answers at once, with nothing."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from touchstone.bench.base import Bench, attempting
from touchstone.bench.certificate import certificate_for
from touchstone.engine.bare import AnyRequest, request_without_external_values
from touchstone.engine.client import EngineError
from touchstone.engine.job import load_job, traffic, watch
from touchstone.engine.locate import engine_path
from touchstone.engine.protocol import Traffic, Watch
from touchstone.isolation.child import end_child, start_child
from touchstone.manifest.exchange import Expectation, LoadRequest
from touchstone.manifest.load import Load
from touchstone.manifest.stream import Stream
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.sample import Sample

_PATIENCE_S = 10.0
_EVENT = "data: 0\n\n"
_MOST_EVENTS = 10_000
"""The body is an argument of the null server's command, and Linux takes 128 KiB for one."""


@dataclass(frozen=True)
class EngineServer:
    """One that runs, and answers at `url`."""

    url: str
    pid: int

    @property
    def watch(self) -> Watch:
        """What the engine samples next to a load on it."""
        return watch(self.pid, [], [], after_s=0.0)

    def turns(self, load: Load, seed: int) -> Traffic:
        """The null server's part of a job that puts the load on contenders in slices."""
        return {**traffic(null_load(load), self.url, seed=seed, fresh=None), "watch": self.watch}


@contextmanager
def server(
    kind: str, arguments: Sequence[str], cpus: Sequence[int], host: str = "127.0.0.1", scheme: str = "http"
) -> Iterator[EngineServer]:
    """One of the engine's own servers, on a free port. Raises EngineError."""
    command = [str(engine_path()), kind, f"--host={host}", "--port=0", f"--cpus={','.join(map(str, cpus))}", *arguments]
    process = start_child(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None  # it was asked for as a pipe
        ready, _, _ = select.select([process.stdout], [], [], _PATIENCE_S)
        line = process.stdout.readline() if ready else ""
        if not line:
            raise EngineError(f"the engine's {kind} server did not start", fix="run it by hand: " + " ".join(command))
        announced = json.loads(line)
        yield EngineServer(f"{scheme}://{announced['listening']}", int(announced["pid"]))
    finally:
        end_child(process)


def load_null_server(bench: Bench, load: Load, sample: Sample) -> Sample:
    """The sample with the result of the load on the null server, or the failure."""
    with attempting(bench, sample), null_server(bench, load) as null:
        bench.watcher.step(f"tare: {sample.load or sample.phase}")
        timing = bench.profile.tare_timing(bench.profile.timing(load, sample.round or 1))
        cpus = bench.placement.engine_cpus
        job = load_job(null_load(load), null.url, timing, cpus=cpus, seed=bench.seed, fresh=None)
        job["watch"] = null.watch
        sample.evidence = LoadEvidence(result=bench.put_load(job))
    return sample


def null_server(bench: Bench, load: Load) -> AbstractContextManager[EngineServer]:
    """The null server that answers as a load expects, in what the load speaks."""
    arguments = [f"--status={_status(load)}", *_events(load)]
    if certificate := certificate_for(bench, load.spoken):
        arguments += [f"--tls-cert={certificate.cert}", f"--tls-key={certificate.key}"]
    return server("null", arguments, bench.placement.server_cpus, bench.generators.host, load.spoken.scheme)


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
    accepting = request_without_external_values(wanted).model_copy(update={"expect": expect})
    if not isinstance(accepting, LoadRequest) or accepting.stream is None:
        return accepting
    # The events come in one piece, and nothing of them is checked but their number. A gRPC call gets one message.
    stream = Stream(kind="sse", events=min(accepting.stream.events, _MOST_EVENTS))
    if accepting.grpc is not None:
        stream = Stream(kind="messages", events=1)
    return accepting.model_copy(update={"stream": stream})


def _events(load: Load) -> list[str]:
    """The null server's body for a load of streams: as many events as the longest stream has."""
    events = [request.stream.events for request in load.all_requests if request.stream is not None]
    if not events:
        return []
    return ["--content-type=text/event-stream", f"--body={_EVENT * min(max(events), _MOST_EVENTS)}"]


def _status(load: Load) -> int:
    """The null server answers every request of a load alike: with the status that the first one expects."""
    return load.all_requests[0].expect.statuses[0]
