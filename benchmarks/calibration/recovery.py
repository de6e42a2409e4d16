"""How near the measured time until recovery is to a planted one.

`python -m benchmarks.calibration.recovery [--seconds S ...] [--repeats N]`: a service has a fault of one second under
an open loop, and stays ill for S seconds after it. `refuses` answers 503 while it is ill. `queues` answers all that
waits when it is well again. The series is read as in the phases `capacity` and `disturb`. Prints the error of each.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import selectors
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from touchstone.engine.locate import engine_path
from touchstone.phase.capacity.burst import BURST_INTERVAL_S
from touchstone.record.engine import Point
from touchstone.traffic.recovery import recovery

BEFORE_S, FAULT_S, AFTER_S = 1.0, 1.0, 2.0
RATE, BOUND_S = 400, 0.05
MODES = ("refuses", "queues")
_WELL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_ILL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


def received(one: socket.socket) -> bytes:
    """What has come on a connection; nothing where the client has ended it."""
    try:
        return one.recv(4096)
    except ConnectionResetError:
        return b""


def serve(listener: socket.socket, mode: str, ill_s: float) -> None:
    """Serve one request at a time on each connection, ill from `BEFORE_S` after the first request on."""
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    waiting: list[socket.socket] = []
    first: float | None = None
    while True:
        for key, _ in selector.select(0.002):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            if one is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
            elif received(one):
                first = first or time.monotonic()
                waiting.append(one)
            else:
                selector.unregister(one)
                one.close()
        age = 0.0 if first is None else time.monotonic() - first
        ill = BEFORE_S <= age < BEFORE_S + FAULT_S + ill_s
        if ill and mode == "queues":
            continue
        for one in waiting:
            one.sendall(_ILL if ill else _WELL)
        waiting.clear()


@contextmanager
def planted(mode: str, ill_s: float) -> Iterator[int]:
    """The port of a service in a process of its own."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        process = multiprocessing.Process(target=serve, args=(listener, mode, ill_s), daemon=True)
        process.start()
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.join()


def measured(mode: str, ill_s: float) -> float | None:
    """Seconds until recovery, as the engine's series shows it."""
    long = BEFORE_S + FAULT_S + ill_s + AFTER_S
    cpu = max(os.sched_getaffinity(0))
    with planted(mode, ill_s) as port:
        load = [f"--rate={RATE}", f"--duration={long}s", "--warmup=0s", "--connections=1024", f"--cpus={cpu}"]
        watch = [f"--interval={BURST_INTERVAL_S * 1000:.0f}ms", "--expect-status=200", "--json"]
        command = [str(engine_path()), "load", *load, *watch, f"http://127.0.0.1:{port}/"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    series = [Point.model_validate(point) for point in json.loads(done.stdout)["series"]]
    return recovery(series, BEFORE_S + FAULT_S, BOUND_S, BURST_INTERVAL_S)


def main() -> None:
    """Measure, and print a line for each planted time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.0, 0.25, 0.7, 1.5])
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    print("| service | planted | measured | largest error |\n|---|---:|---|---:|")
    for mode in MODES:
        for seconds in asked.seconds:
            found = [measured(mode, seconds) for _ in range(asked.repeats)]
            words = ", ".join("never" if one is None else f"{one:.2f} s" for one in found)
            errors = [abs(one - seconds) for one in found if one is not None]
            worst = f"{max(errors) * 1000:.0f} ms" if len(errors) == len(found) else "-"
            print(f"| {mode} | {seconds:.2f} s | {words} | {worst} |", flush=True)


if __name__ == "__main__":
    main()
