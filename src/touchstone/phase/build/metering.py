"""Runs a build command and measures it: wall time, CPU of all its children, and the tree's peak memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from touchstone.isolation.family import family, resident
from touchstone.isolation.private_places import PrivatePlaces
from touchstone.isolation.process import start_process
from touchstone.record.secret import shown_command

_INTERVAL_S = 0.1


@dataclass
class Meter:
    """What several commands took together: seconds, CPU seconds, and the largest sum of resident bytes of the tree.

    The sum counts memory that processes share once for each of them, so that it is an upper bound.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_peak: int = 0
    other_cpu_s: float = 0.0
    """CPU seconds of everything else on the machine meanwhile, touchstone's own watching included."""
    steal_s: float = 0.0
    """CPU seconds that the hypervisor gave to others meanwhile."""


def run_metered(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    log: Path,
    meter: Meter,
    places: PrivatePlaces | None = None,
) -> int:
    """Run a command to its end, adding to `meter`; its output goes to `log`. Returns the exit code.

    What the command leaves running, such as a build tool's daemon, is ended: it would work, or wait warm, while others
    are measured. Its CPU time counts.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"$ {' '.join(shown_command(argv))}\n")
    start, before = time.monotonic(), psutil.cpu_times()
    process = start_process(argv, env=env, cwd=cwd, log=log, places=places)
    done = threading.Event()
    sampler = threading.Thread(target=_sample_memory, args=(process.pid, done, meter), daemon=True)
    sampler.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.stop(patience_s=2.0)
        raise
    finally:
        done.set()
        sampler.join()
    process.popen.returncode = os.waitstatus_to_exitcode(status)
    after = psutil.cpu_times()
    meter.wall_s += time.monotonic() - start
    orphans = process.end_orphans()
    if orphans.lived:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(f"(touchstone ended what this command had left running: {', '.join(orphans.lived)})\n")
    own = usage.ru_utime + usage.ru_stime + orphans.cpu_s
    meter.cpu_s += own
    meter.other_cpu_s += max(0.0, _busy(after) - _busy(before) - own)
    meter.steal_s += after.steal - before.steal
    return process.popen.returncode


def _busy(times: psutil._pslinux.scputimes) -> float:
    """Seconds in which some process had a CPU; a guest's are within user's."""
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def _sample_memory(pid: int, done: threading.Event, meter: Meter) -> None:
    while not done.wait(_INTERVAL_S):
        meter.memory_peak = max(meter.memory_peak, resident(family(pid)))
