"""Several contenders that run at once, each with dependencies of its own: what loads in slices are put on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from touchstone.bench.base import Bench, blank_process, blank_sample, failed
from touchstone.bench.running_contender import RunningContender, running_contender
from touchstone.dependency.base import Dependency
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.record.process import Process
from touchstone.record.sample import Failure, Sample


@dataclass
class StartedTogether:
    """A contender started next to others, with its inputs."""

    contender: Contender
    running: RunningContender
    bench: Bench
    """With the contender's own part of each dependency."""
    process: Process
    """What is recorded of it, for the samples of all its loads."""


@dataclass(frozen=True)
class NotStarted:
    """A contender that did not start next to the others, and why."""

    process: Process
    failure: Failure

    def samples(self, bench: Bench, phase: str, loads: Iterable[str], round_number: int) -> list[Sample]:
        """A sample for each load: it has failed under all of them."""
        found = [
            blank_sample(
                bench, phase, self.process.contender, load=load, round_number=round_number, process=self.process
            )
            for load in loads
        ]
        for sample in found:
            sample.failure = self.failure
        return found


def divisible(bench: Bench) -> bool:
    """Whether each contender can have a part of every dependency of its own."""
    return all(dependency.divisible for dependency in bench.dependencies.values())


@contextmanager
def started_together(
    bench: Bench,
    contenders: Sequence[Contender],
    round_number: int,
    *,
    under: Load | None,
    phase: str = "load",
) -> Iterator[tuple[list[StartedTogether], list[NotStarted]]]:
    """Start them all for a load: those that run, and those that did not start.

    A contender that runs alone gets the dependencies themselves where they cannot be divided.

    When the context ends, all have been stopped, and their records hold how each process ended.
    """
    for name, dependency in bench.dependencies.items():
        dependency.reset(dict(under.dependency_settings.get(name, {}) if under else {}))
    found: list[StartedTogether] = []
    failed_starts: list[NotStarted] = []
    with ExitStack() as stack:
        for contender in contenders:
            process = blank_process(bench, phase, contender.name, round_number)
            own = with_own_dependencies(bench, contender, stack)
            bench.watcher.step(f"starting {contender.name}")
            try:
                contender_running = stack.enter_context(running_contender(own, contender, process, under=under))
            except TouchstoneError as error:
                failed_starts.append(NotStarted(process, failed(error, bench.log_tail(process))))
                continue
            found.append(StartedTogether(contender, contender_running, own, process))
        yield found, failed_starts


def with_own_dependencies(bench: Bench, contender: Contender, stack: ExitStack) -> Bench:
    """The same bench with a part of each dependency for one contender alone. The stack gives the parts back.

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
