"""What is profiled: one contender under one load, at one rate; and its starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from touchstone.bench.base import Bench, Built
from touchstone.bench.service import StartedService, running
from touchstone.isolation.process import ServerProcess
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.phase.profile.passes import ProfilePasses
from touchstone.record.sample import Sample
from touchstone.traffic.sequence import LoadSequence


@dataclass(frozen=True)
class ProfileTask:
    """One contender under one load at the rate that all serve, in requests per second."""

    bench: Bench
    contender: Contender
    load: Load
    rate: float


@contextmanager
def started(task: ProfileTask, built: Built, sample: Sample) -> Iterator[tuple[StartedService, LoadSequence]]:
    """Start it, and send what goes before the load: the process, and the prepared sequence. Raises TouchstoneError."""
    # Profilers meet the process in /tmp: a JVM's own commands, and its map of compiled code.
    with running(task.bench, built, sample.process, under=task.load, shares_places=True) as contender_running:
        yield contender_running, LoadSequence(task.bench, contender_running, task.load, sample).prepare()


@contextmanager
def settled(
    task: ProfileTask, built: Built, sample: Sample, rate: float
) -> Iterator[tuple[ServerProcess, ProfilePasses]]:
    """A start of its own, settled at the rate."""
    with (
        started(task, built, sample.model_copy(deep=True)) as (contender_running, sequence),
        ProfilePasses(task.bench, sequence.load, contender_running, rate) as passes,
    ):
        passes.settle()
        yield contender_running.process, passes
