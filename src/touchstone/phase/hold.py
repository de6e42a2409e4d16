"""The hold phase: memory against the number of open connections, read at each level and never extrapolated."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from touchstone.engine.client import run_job
from touchstone.engine.job import request
from touchstone.isolation.process import start_process
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.exchange import Request
from touchstone.manifest.scenario import Scenario, Setting
from touchstone.phase.base import Bench, Phase, attempt, blank_sample
from touchstone.phase.service import HOST, Running, contender_environment, running, wait_for_listener
from touchstone.record.base import Record
from touchstone.record.sample import Failure, Sample

_LARGE_PATIENCE_S = 60.0
"""Dozens of server processes share a few CPUs there, and what is asked is what they hold, not how soon they answer."""
_SPARE_FILES = 1000
"""Descriptors that a process needs for itself, beside its connections."""


class HoldResult(Record):
    """What the engine says of a hold job; its levels are kept as they are (docs/engine-protocol.md)."""

    levels: list[dict[str, Any]] = []
    after_close: dict[str, Any] | None = None
    processes: int = 1
    interrupted: bool = False
    server_exited: Any | None = None


@dataclass(frozen=True)
class HoldJob:
    """One climb over levels of connections."""

    name: str
    levels: Sequence[int]
    mode: str
    overrides: Mapping[str, Setting] = field(default_factory=dict)
    """Settings of the contender that differ from the scenario's."""
    patience_s: float = 10.0
    """A connection that has no whole answer by then has failed."""


class HoldPhase(Phase):
    """Opens more and more connections, each with one request answered, and reads memory on all sides."""

    name: ClassVar[str] = "hold"
    title: ClassVar[str] = "Connections"
    default: ClassVar[bool] = False
    per_round: ClassVar[bool] = True

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario names levels."""
        return scenario.hold is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a mode; with `--large` one more for the levels beyond one process's file limit."""
        hold = bench.scenario.hold
        assert hold is not None  # `applies` has seen to it
        jobs = [HoldJob(mode, hold.levels, mode) for mode in hold.modes]
        if bench.large:
            jobs = [HoldJob("large", [0, *hold.large_levels], "idle", hold.large_settings, _LARGE_PATIENCE_S)]
        place = (round_number, position)
        return [self._hold(bench, contender, hold.request, job, place) for job in jobs if len(job.levels) > 1]

    def _hold(
        self,
        bench: Bench,
        contender: Contender,
        asked: Request,
        job: HoldJob,
        place: tuple[int | None, int],
    ) -> Sample:
        sample = blank_sample(bench, self.name, contender.name, load=job.name, round_number=place[0], position=place[1])

        def action(sample: Sample) -> None:
            bench.watcher.step(f"holding connections of {contender.name}: {job.name}")
            with (
                running(bench, bench.builds[contender.name], sample, overrides=job.overrides) as first,
                more_processes(bench, contender, first, job) as pids,
            ):
                result = run_job(
                    "hold",
                    {
                        "url": first.url,
                        "request": request(asked),
                        "levels": list(job.levels),
                        "mode": job.mode,
                        "timeout_s": job.patience_s,
                        "watch": [first.process.pid, *pids],
                        "cpus": bench.placement.engine_cpus,
                    },
                    HoldResult,
                    on_event=bench.watcher.event,
                )
            keep(result, sample)

        return attempt(sample, action, bench.store.logs / f"{sample.id}.log")


def server_processes(connections: int) -> int:
    """How many server processes it takes to hold so many connections under this machine's file limit."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if limit == resource.RLIM_INFINITY:
        return 1
    return -(-connections // max(1, limit - _SPARE_FILES))


@contextmanager
def more_processes(bench: Bench, contender: Contender, first: Running, job: HoldJob) -> Iterator[list[int]]:
    """Further processes of the contender on the same port (SO_REUSEPORT), as many as the highest level needs."""
    built = bench.builds[contender.name]
    env = contender_environment(bench, built, first.port, job.overrides)
    count = server_processes(max(job.levels))
    with ExitStack() as stack:
        pids = []
        for number in range(1, count):
            log = first.process.log.with_suffix(f".{number}.log")
            process = start_process(built.argv, env=env, cwd=built.work, log=log, cpus=bench.placement.server_cpus)
            stack.callback(process.stop)
            wait_for_listener(process, first.port)
            pids.append(process.pid)
        yield pids


def keep(result: HoldResult, sample: Sample) -> None:
    """Put levels and slopes into the sample. Slopes are least-squares lines over the levels that were reached."""
    reached = [level for level in result.levels if level.get("idle") and not level.get("refused")]
    sample.detail["hold"] = {
        "levels": [_level(level) for level in reached],
        "refused": [
            {"connections": level["connections"], **level["refused"]} for level in result.levels if level.get("refused")
        ],
        "after_close": result.after_close,
        "engine_processes": result.processes,
        "raw": result.levels,
        "host": HOST,
    }
    if not reached:
        sample.failure = Failure(what="no level was reached", mend="see the refusal in the sample's detail")
        return
    held = [int(level["held"]) for level in reached]
    sample.figures["hold_connections"] = float(max(held))
    for figure, side, key in (
        ("hold_rss_per_connection", "server", "rss"),
        ("hold_anon_per_connection", "server", "anon"),
        ("hold_vmpeak_per_connection", "server", "vm_peak"),
    ):
        slope = slope_of(held, [reading_of(level)[side].get(key) for level in reached])
        if slope is None:
            sample.not_measured[figure] = "fewer than two levels were reached, or the kernel does not say"
        else:
            sample.figures[figure] = slope
    kernel = slope_of(held, [_kernel_bytes(level) for level in reached])
    if kernel is not None:
        # Both ends of a loopback connection live in this kernel: half of it is the server's.
        sample.figures["hold_kernel_per_connection"] = kernel / 2
    _base_and_given_back(result, reached, held, sample)


def _base_and_given_back(
    result: HoldResult, reached: Sequence[dict[str, Any]], held: Sequence[int], sample: Sample
) -> None:
    if held[0] == 0:
        base = float(reached[0]["idle"]["server"]["rss"])
        sample.figures["hold_rss_base"] = base
        peak = max(float(reading_of(level)["server"]["rss"]) for level in reached)
        if result.after_close and peak - base > 0:
            sample.figures["hold_given_back"] = (peak - float(result.after_close["server"]["rss"])) / (peak - base)


def slope_of(connections: Sequence[int], values: Sequence[float | None]) -> float | None:
    """Bytes a connection: the slope of a least-squares line; None without two levels or with a gap in the values."""
    if len(set(connections)) < 2 or any(value is None for value in values):
        return None
    slope, _ = np.polyfit(np.asarray(connections, dtype=float), np.asarray(values, dtype=float), 1)
    return float(slope)


def reading_of(level: dict[str, Any]) -> dict[str, Any]:
    """Memory on all sides at a level: under traffic where there was some, at rest otherwise."""
    reading: dict[str, Any] = level["traffic"]["reading"] if level.get("traffic") else level["idle"]
    return reading


def _kernel_bytes(level: dict[str, Any]) -> float | None:
    """Memory of the kernel's structures for connections, both ends: socket slabs and TCP's buffers."""
    kernel = reading_of(level)["kernel"]
    slabs = sum(kernel["slabs"].values()) if kernel.get("slabs") else kernel.get("slab")
    buffers = kernel.get("tcp_buffers")
    return None if slabs is None or buffers is None else float(slabs + buffers)


def _level(level: dict[str, Any]) -> dict[str, Any]:
    """One level in the form that reports read: bytes on the server's side."""
    server = reading_of(level)["server"]
    kernel = _kernel_bytes(level)
    return {
        "connections": level["held"],
        "asked": level["connections"],
        "answered": level["answered"],
        "failed": level["failed"],
        "lost": level["lost"],
        "open_rate": level["open_rate"],
        "rss": server["rss"],
        "pss": server.get("pss"),
        "anon": server.get("anon"),
        "vm_peak": server.get("vm_peak"),
        "kernel": None if kernel is None else kernel / 2,
    }
