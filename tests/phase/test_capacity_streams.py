"""Trials of streams: bounds on the gaps of their events, against a service that keeps its pace for some of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from touchstone.contract.values import fresh_of
from touchstone.engine.client import run_job
from touchstone.engine.job import watch
from touchstone.isolation.port import free_port
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.phase.capacity.contender_search import ContenderSearch, SearchBudget, TrialTarget
from touchstone.phase.capacity.trial import seconds_for
from touchstone.record.engine import LoadResult

KEPT = 8
_SERVICE = f"""
import asyncio, os
under_way = 0
async def answer(reader, writer):
    global under_way
    while True:
        await reader.readuntil(b"\\r\\n\\r\\n")
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n")
        writer.write(b"Transfer-Encoding: chunked\\r\\n\\r\\n")
        under_way += 1
        for number in range(3):
            data = b"data: %d\\n\\n" % number
            writer.write(b"%x\\r\\n%s\\r\\n" % (len(data), data))
            await asyncio.sleep(0.01 if under_way <= {KEPT} else 0.2)
        writer.write(b"0\\r\\n\\r\\n")
        under_way -= 1
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", int(os.environ["PORT"]))
    print(flush=True)
    await server.serve_forever()
asyncio.run(main())
"""
_STREAM = {"kind": "sse", "events": 3, "counter": "data", "first": 0}
LOAD = Load.model_validate({"title": "S", "connections": 64, "requests": [{"target": "/", "stream": _STREAM}]})
OBJECTIVE = parse_objective("event_gap_p99 < 100ms, errors < 5%")


@contextmanager
def search(load: Load) -> Iterator[ContenderSearch]:
    """A search whose service runs until the context ends."""
    port = free_port()
    words, env = [sys.executable, "-c", _SERVICE], {**os.environ, "PORT": str(port)}
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        target = TrialTarget(f"http://127.0.0.1:{port}", watch(process.pid, [], [], after_s=0.0), 1)
        seat = ContenderSearch(
            name="streams",
            target=target,
            load=load,
            objective=OBJECTIVE,
            pace=SearchBudget(0.6, 30, 0.1),
            cpus=[],
            seed=1,
            fresh=fresh_of(1),
            put_load=lambda job: run_job("load", job, LoadResult),
        )
        seat.begin(400.0)
        yield seat
        process.kill()


def test_a_gap_breaks_the_objective_and_the_streams_sustained_are_those_of_a_trial_that_held() -> None:
    with search(LOAD) as seat:
        calm = seat.offer(60.0, "search", 0.6)
        full = seat.offer(600.0, "search", 0.6)
    assert calm.latency["event_gap_p99"] < full.latency["event_gap_p99"]
    assert full.held is not True
    assert full.why.startswith("event_gap_p99 was ") or full.void, full.why
    assert calm.streams is not None and full.streams is not None
    assert calm.streams < full.streams
    seat.ended = "generator"
    assert seat.streams == (calm.streams if calm.held else None)


def test_a_trial_lasts_longer_than_its_streams() -> None:
    assert seconds_for(OBJECTIVE, 1_000.0, 1.5, stream_s=2.0) == 6.0
    assert seconds_for(OBJECTIVE, 1_000.0, 1.5, stream_s=100.0) == 60.0
    assert seconds_for(OBJECTIVE, 1_000.0, 1.5) == 1.5
