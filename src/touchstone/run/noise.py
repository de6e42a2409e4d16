"""Measures how much this machine disturbs measurements: timers, steal, other processes, null server."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.isolation.busiest import busiest, process_times
from touchstone.manifest.load import Load
from touchstone.plan.placement import available_cpus, plan_placement
from touchstone.record.engine import LoadResult
from touchstone.traffic.null_server import server

_NAP_S = 0.001
_LOAD = Load.model_validate({"title": "noise", "connections": 16, "requests": [{"target": "/"}]})


@dataclass(frozen=True)
class Noise:
    """Measured noise. Shares are of the machine's total CPU time; spreads are coefficients of variation."""

    timer_late_p99_s: float
    """How much later than asked a sleep of one millisecond ends, 99th percentile over all CPUs."""
    steal: float
    """The share that the hypervisor gave to others."""
    background: float
    """The share that other processes used while we slept."""
    tare_spread: float
    """Spread of the null server's throughput over the trials."""
    tare_drift: float
    """The tare's last third against its first, as a share."""
    tares: tuple[float, ...]
    busiest: tuple[str, ...] = ()
    """The other processes that used most of it, each with its pid and share."""

    def complaints(self) -> list[str]:
        """Return the reasons why this machine is unfit for a thorough run.

        Empty if it is fit.

        Half of the least effect that matters (5 %) is the limit for drift and background: more is indistinguishable
        from a difference. A spread of 10 % needs about 30 rounds to see 5 %, which is what a thorough run can afford.
        """
        found = []
        if self.background > 0.025:
            who = f"; most of it {', '.join(self.busiest)}" if self.busiest else ""
            found.append(f"other processes use {self.background:.1%} of the CPUs (at most 2.5 %): end them{who}")
        if self.steal > 0.01:
            found.append(
                f"the hypervisor takes {self.steal:.1%} of the CPUs (at most 1 %): use another machine or hour"
            )
        if self.tare_spread > 0.10:
            found.append(f"the null server's throughput varies by {self.tare_spread:.1%} (at most 10 %)")
        if abs(self.tare_drift) > 0.05:
            found.append(f"the null server's rate drifted by {self.tare_drift:+.1%} during the check (at most 5 %)")
        if self.timer_late_p99_s > 0.005:
            found.append(f"timers are late by {self.timer_late_p99_s * 1000:.1f} ms at p99 (at most 5 ms)")
        return found


def measure_noise(seconds: float = 10.0) -> Noise:
    """Measure noise for about `seconds`: a third while idle, the rest while the null server is loaded."""
    processes = process_times()
    before = _cpu_times()
    own_before = time.process_time()
    late = _timer_lateness(seconds / 3)
    own = time.process_time() - own_before
    after = _cpu_times()
    total = max(1e-9, sum(after.values()) - sum(before.values()))
    busy = total - (after["idle"] - before["idle"]) - (after["iowait"] - before["iowait"])
    steal = after["steal"] - before["steal"]
    names = busiest(processes, process_times(), total)
    tares = _tares(seconds * 2 / 3)
    third = max(1, len(tares) // 3)
    first, last = statistics.median(tares[:third]), statistics.median(tares[-third:])
    return Noise(
        timer_late_p99_s=late[int(len(late) * 0.99)],
        steal=steal / total,
        background=max(0.0, busy - steal - own) / total,
        tare_spread=statistics.stdev(tares) / statistics.mean(tares),
        tare_drift=last / first - 1,
        tares=tuple(tares),
        busiest=names,
    )


def _timer_lateness(seconds: float) -> list[float]:
    """Return the sorted delays of sleeping threads, one thread per CPU."""
    late: list[float] = []

    def nap(cpu: int) -> None:
        os.sched_setaffinity(threading.get_native_id(), {cpu})
        end = time.monotonic() + seconds
        own = []
        while (begin := time.monotonic()) < end:
            time.sleep(_NAP_S)
            own.append(time.monotonic() - begin - _NAP_S)
        late.extend(own)

    threads = [threading.Thread(target=nap, args=(cpu,)) for cpu in available_cpus()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(late)


def _tares(seconds: float) -> Sequence[float]:
    placement = plan_placement(available_cpus(), dependencies=False)
    count = 9
    rates = []
    with server("null", [], placement.server_cpus) as null:
        for _ in range(count):
            timing = Timing(warmup_s=0.1, measured_s=max(0.2, seconds / count - 0.2), idle_s=0.0)
            job = load_job(_LOAD, null.url, timing, cpus=placement.engine_cpus, seed=1, fresh=None)
            rates.append(run_job("load", job, LoadResult).rate.achieved)
    return rates


def _cpu_times() -> dict[str, float]:
    """Seconds of the whole machine by kind, from /proc/stat."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    tick = os.sysconf("SC_CLK_TCK")
    return {name: int(value) / tick for name, value in zip(names, fields, strict=False)}
