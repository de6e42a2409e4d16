"""The hold phase: memory against the number of open connections, read at each level and never extrapolated."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from touchstone.bench.base import Bench, sampling
from touchstone.bench.certificate import certificate_for
from touchstone.bench.service import StartedService, contender_environment, running
from touchstone.bench.waiting import wait_for_listener
from touchstone.engine.job import request, tls
from touchstone.engine.protocol import Mode
from touchstone.isolation.process import StartError, start_process
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.exchange import Request
from touchstone.manifest.scenario import Scenario, Setting
from touchstone.phase.base import Phase
from touchstone.record.evidence.hold import HeldLevel, HoldEvidence, RefusedLevel
from touchstone.record.hold_result import HoldLevel, HoldReading, HoldResult, KernelMemory
from touchstone.record.sample import Failure, Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_LARGE_PATIENCE_S = 60.0
"""Dozens of server processes share a few CPUs there, and what is asked is what they hold, not how soon they answer."""
_SPARE_FILES = 1000
"""Descriptors that a process needs for itself, next to its connections."""


@dataclass(frozen=True)
class HoldClimb:
    """One climb over levels of connections."""

    name: str
    levels: Sequence[int]
    mode: Mode
    overrides: Mapping[str, Setting] = field(default_factory=dict)
    """Settings of the contender that differ from the scenario's."""
    patience_s: float = 10.0
    """A connection that has no whole answer by then has failed."""


class HoldPhase(Phase):
    """Opens more and more connections, each with one request answered, and reads memory on all sides."""

    kind: ClassVar[PhaseKind] = PHASES["hold"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario names levels."""
        return scenario.hold is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample a mode; with `--large` one more for the levels beyond one process's file limit."""
        hold = bench.scenario.hold
        assert hold is not None  # `applies` has seen to it
        jobs = [HoldClimb(mode, hold.levels, mode) for mode in hold.modes]
        if bench.options.large:
            jobs = [HoldClimb("large", [0, *hold.large_levels], "idle", hold.large_settings, _LARGE_PATIENCE_S)]
        place = (round_number, position)
        return [self._hold(bench, contender, hold.request, job, place) for job in jobs if len(job.levels) > 1]

    def _hold(
        self,
        bench: Bench,
        contender: Contender,
        asked: Request,
        job: HoldClimb,
        place: tuple[int | None, int],
    ) -> Sample:
        with sampling(bench, "hold", contender.name, load=job.name, round_number=place[0], position=place[1]) as sample:
            bench.watcher.step(f"holding connections of {contender.name}: {job.name}")
            with (
                running(bench, bench.builds[contender.name], sample.process, overrides=job.overrides) as first,
                more_processes(bench, contender, first, job) as pids,
            ):
                result = bench.generators.hold(
                    {
                        "url": first.service.url_of(asked),
                        "protocol": first.spoken.protocol,
                        "tls": tls(first.spoken),
                        "request": request(asked),
                        "levels": list(job.levels),
                        "mode": job.mode,
                        "timeout_s": job.patience_s,
                        "watch": [first.process.pid, *pids],
                        "cpus": list(bench.placement.engine_cpus),
                    },
                    bench.watcher.event,
                )
            keep_levels(result, sample)
        return sample


def server_processes(connections: int) -> int:
    """Number of server processes needed to hold these connections under this machine's file limit."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if limit == resource.RLIM_INFINITY:
        return 1
    return -(-connections // max(1, limit - _SPARE_FILES))


@contextmanager
def more_processes(bench: Bench, contender: Contender, first: StartedService, job: HoldClimb) -> Iterator[list[int]]:
    """Start further contender processes on the same port (SO_REUSEPORT), as the highest level needs."""
    certificate = certificate_for(bench, first.spoken)
    built = bench.builds[contender.name].at(first.host, first.ports, certificate)
    env = contender_environment(bench, built, first.ports, certificate, job.overrides)
    count = server_processes(max(job.levels))
    if built.image is not None and count > 1:
        raise StartError(
            f"{max(job.levels):,} connections need {count} processes on one port, and a container is started once",
            fix="raise the limit of open files, or hold fewer",
        )
    with ExitStack() as stack:
        pids = []
        for number in range(1, count):
            log = first.process.log.with_suffix(f".{number}.log")
            process = start_process(built.argv, env=env, cwd=built.cwd, log=log, cpus=bench.placement.server_cpus)
            stack.callback(process.stop)
            wait_for_listener(process, first.ports.main, bench.scenario.ready.within_s)
            pids.append(process.pid)
        yield pids


def keep_levels(result: HoldResult, sample: Sample) -> None:
    """Put levels and slopes into the sample. Slopes are least-squares lines over the levels that were reached."""
    # Both ends of a loopback connection live in this kernel: half of it is the server's.
    own_ends = 1 if sample.process.placement.generators else 2
    sample.evidence = evidence = HoldEvidence(
        levels=[_held(level, reading, own_ends) for level, reading in _reached(result)],
        refused=[
            RefusedLevel(connections=level.connections, **dict(level.refused))
            for level in result.levels
            if level.refused
        ],
        after_close=result.after_close,
        engine_processes=result.processes,
        raw=result.levels,
    )
    levels = evidence.levels
    if not levels:
        sample.failure = Failure(what="no level was reached", fix="the sample's record holds the refusal")
        return
    held = [level.connections for level in levels]
    sample.figures["hold_connections"] = float(max(held))
    for figure, values in (
        ("hold_rss_per_connection", [level.rss for level in levels]),
        ("hold_anon_per_connection", [level.anon for level in levels]),
        ("hold_vmpeak_per_connection", [level.vm_peak for level in levels]),
    ):
        slope = slope_of(held, values)
        if slope is None:
            sample.not_measured[figure] = "fewer than two levels were reached, or the kernel does not say"
        else:
            sample.figures[figure] = slope
    kernel = slope_of(held, [level.kernel for level in levels])
    if kernel is not None:
        sample.figures["hold_kernel_per_connection"] = kernel
    _base_and_given_back(result, sample)


def _reached(result: HoldResult) -> list[tuple[HoldLevel, HoldReading]]:
    """The levels that were reached, each with memory on all sides."""
    return [
        (level, level.reading)
        for level in result.levels
        if level.idle and level.reading is not None and not level.refused
    ]


def _base_and_given_back(result: HoldResult, sample: Sample) -> None:
    first, *_ = reached = _reached(result)
    if first[0].held == 0 and first[0].idle is not None:
        base = float(first[0].idle.server.rss)
        sample.figures["hold_rss_base"] = base
        peak = max(float(reading.server.rss) for _, reading in reached)
        if result.after_close and peak - base > 0:
            sample.figures["hold_given_back"] = (peak - float(result.after_close.server.rss)) / (peak - base)


def slope_of(connections: Sequence[int], values: Sequence[float | None]) -> float | None:
    """Bytes a connection: the slope of a least-squares line; None without two levels or with a gap in the values."""
    if len(set(connections)) < 2 or any(value is None for value in values):
        return None
    slope, _ = np.polyfit(np.asarray(connections, dtype=float), np.asarray(values, dtype=float), 1)
    return float(slope)


def _kernel_bytes(kernel: KernelMemory) -> float | None:
    """Memory of the kernel's structures for connections, both ends: socket slabs and TCP's buffers."""
    slabs = sum(kernel.slabs.values()) if kernel.slabs else kernel.slab
    return None if slabs is None or kernel.tcp_buffers is None else float(slabs + kernel.tcp_buffers)


def _held(level: HoldLevel, reading: HoldReading, own_ends: int) -> HeldLevel:
    """One level in the form that reports read: bytes on the server's side, with `own_ends` of the connection ends in
    this kernel.
    """
    kernel = _kernel_bytes(reading.kernel)
    return HeldLevel(
        connections=level.held,
        asked=level.connections,
        answered=level.answered,
        failed=level.failed,
        lost=level.lost,
        open_rate=level.open_rate,
        rss=reading.server.rss,
        pss=reading.server.pss,
        anon=reading.server.anon,
        vm_peak=reading.server.vm_peak,
        kernel=None if kernel is None else kernel / own_ends,
    )
