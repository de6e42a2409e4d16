"""Several contenders that run at once, each with dependencies of its own: what loads in slices are put on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from touchstone.bench.base import Bench, blank_sample, failed
from touchstone.bench.engaged import Engaged, engaged
from touchstone.dependency.base import Dependency
from touchstone.failure import TouchstoneError
from touchstone.isolation.process import tail
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.record.sample import Sample

_OF_THE_PROCESS = (
    "argv",
    "env",
    "artifacts",
    "left_in_work",
    "placement",
    "confinement",
    "server_exit",
    "foreign_listener",
    "stopped",
    "cpu_at_end",
    "oom_kills",
    "log_bytes",
    "log_file_bytes",
)
"""What belongs to a process, and so to every load that was put on it."""


@dataclass
class Started:
    """A contender that was started next to others, and what it was started with."""

    contender: Contender
    running: Engaged
    bench: Bench
    """With the contender's own part of each dependency."""
    carrier: Sample
    """What is recorded of its process; `pass_on` gives it to the loads' samples."""


def divisible(bench: Bench) -> bool:
    """Whether each contender can have a part of every dependency of its own."""
    return all(dependency.divisible for dependency in bench.dependencies.values())


@contextmanager
def started(
    bench: Bench,
    contenders: Sequence[Contender],
    round_number: int,
    *,
    under: Load | None,
    phase: str = "load",
) -> Iterator[tuple[list[Started], dict[str, Sample]]]:
    """Start them all for a load: those that run, and for contenders that failed to start the sample recording why.

    A contender that runs alone gets the dependencies themselves where they cannot be divided.

    When the context ends, all have been stopped and every carrier holds how its process ended.
    """
    for name, dependency in bench.dependencies.items():
        dependency.reset(dict(under.dependency_settings.get(name, {}) if under else {}))
    found: list[Started] = []
    fallen: dict[str, Sample] = {}
    with ExitStack() as stack:
        for contender in contenders:
            carrier = blank_sample(bench, phase, contender.name, round_number=round_number)
            own = parted(bench, contender, stack)
            bench.watcher.step(f"starting {contender.name}")
            try:
                contender_running = stack.enter_context(engaged(own, contender, carrier, under=under))
            except TouchstoneError as error:
                carrier.failure = failed(error, tail(bench.store.logs / f"{carrier.id}.log"))
                fallen[contender.name] = carrier
                continue
            found.append(Started(contender, contender_running, own, carrier))
        yield found, fallen


def parted(bench: Bench, contender: Contender, stack: ExitStack) -> Bench:
    """The same bench with a part of each dependency for one contender alone; the stack gives the parts back.

    What cannot be divided stays as it is. Who runs outside has dependencies of its own.
    """
    parts: dict[str, Dependency] = {}
    for name, dependency in bench.dependencies.items():
        if contender.outside:
            continue
        parts[name] = dependency
        if dependency.divisible:
            parts[name] = dependency.part()
            stack.callback(parts[name].stop)
    return dataclasses.replace(bench, dependencies=parts)


def pass_on(carrier: Sample, sample: Sample) -> None:
    """Give a load's sample what is recorded of the process that the load was put on."""
    for name in _OF_THE_PROCESS:
        setattr(sample, name, getattr(carrier, name))
    sample.files |= carrier.files
    sample.left_out = [*carrier.left_out, *sample.left_out]
