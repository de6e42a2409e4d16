"""What a measurement is given: the scenario, the machine's parts, where results go, and a sample to fill."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from touchstone.bench.generators import Generators, ThisMachine
from touchstone.dependency.base import Dependency
from touchstone.engine.client import Event
from touchstone.engine.job import slices_job
from touchstone.engine.protocol import LoadJob, Traffic
from touchstone.engine.slices import SlicesSession
from touchstone.failure import TouchstoneError
from touchstone.isolation.container import ContainerRuntime
from touchstone.isolation.process import StartError, tail
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.manifest.places import fill_places
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.spoken import SpokenProtocol
from touchstone.manifest.stack import GrpcPort, Image
from touchstone.plan.plan import spec_of
from touchstone.plan.preset import Preset
from touchstone.record.engine import LoadResult
from touchstone.record.load_spec import LoadSpec
from touchstone.record.process import Placement, Process
from touchstone.record.sample import Failure, Sample
from touchstone.record.secret import shown_text
from touchstone.record.store import RunStore
from touchstone.toolchain.tool import FoundTool
from touchstone.vocabulary.phase import PHASES


class Watcher(Protocol):
    """Sees the progress of a phase."""

    def begins(self, sample: Sample) -> None:
        """A measurement begins. The engine's next reports are of it, or of others of its phase, load and round."""

    def step(self, text: str) -> None:
        """A step of the phase begins."""

    def event(self, event: Event) -> None:
        """The engine reports. A turn of a load in slices names its contender."""

    def say(self, text: str) -> None:
        """Something that should stay on the screen."""


class LapWatcher(Protocol):
    """Sees loads in slices while they are measured."""

    def after_lap(self, samples: Sequence[Sample]) -> str:
        """What is known of a load after another lap, in words. The samples hold the slices of this round until now."""


@dataclass(frozen=True)
class ImageBuilt:
    """A container image on this machine, and what runs it."""

    runtime: ContainerRuntime
    id: str
    manifest: Image
    """What is said of it in stack.toml."""


@dataclass(frozen=True)
class Certificate:
    """What services that speak TLS show: two files in PEM."""

    cert: Path
    key: Path
    """PKCS#8, not encrypted."""


@dataclass(frozen=True)
class Ports:
    """Where one start of a contender listens."""

    main: int
    grpc: int | None = None
    """The port of gRPC calls, if it has one of its own."""

    @property
    def all(self) -> tuple[int, ...]:
        """The one, or both."""
        return (self.main,) if self.grpc is None else (self.main, self.grpc)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that tell them to the contender."""
        return {"PORT": str(self.main)} | ({} if self.grpc is None else {"GRPC_PORT": str(self.grpc)})


@dataclass(frozen=True)
class Built:
    """A contender's finished build."""

    work: Path
    """The folder that it was built in."""
    artifacts: tuple[Path, ...]
    """Files and folders: all that is shipped."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    train: tuple[str, ...] | None = None
    """The command of the training run, if it has one."""
    image: ImageBuilt | None = None
    """What is run in place of `argv`, which then only names it."""
    run_in: str = ""
    """The folder within `work` in which it is started; `work` itself if empty."""
    port: int | None = None
    """The fixed port of a service that ignores `PORT`."""
    grpc_port: GrpcPort | None = None
    """Its own port for gRPC: a fixed one, or any free one."""

    @property
    def cwd(self) -> Path:
        """The folder in which it is started."""
        return self.work / self.run_in

    def at(self, host: str, ports: Ports, certificate: Certificate | None = None) -> Built:
        """The same with `{host}`, `{port}`, `{grpc_port}` and certificate files filled into command and environment.

        Raises StartError if it names the certificate, and there is none: it is to speak without TLS.
        """
        places = {"host": host, **{name.lower(): port for name, port in ports.environment.items()}}
        if certificate is not None:
            places |= {"tls.cert": str(certificate.cert), "tls.key": str(certificate.key)}
        elif any("{tls." in text for text in (*self.argv, *self.env.values())):
            raise StartError(
                "its command or its environment names {tls.cert} or {tls.key}, and touchstone calls it without TLS",
                fix="take the files from TLS_CERT and TLS_KEY, which are set only for TLS; or leave out loads without "
                'TLS: `speaks = ["h1-tls", "h2"]` in its stack.toml',
            )
        env = {name: fill_places(value, places) for name, value in self.env.items()}
        return replace(self, argv=tuple(fill_places(word, places) for word in self.argv), env=env)


@dataclass(frozen=True, kw_only=True)
class MeasurementOptions:
    """How a run is measured, as the user asked: what changes neither the scenario nor what is asked of it."""

    addresses: Mapping[str, str] = field(default_factory=dict)
    """Addresses of dependencies that touchstone does not start, by kind."""
    fresh_builds: bool = False
    """Build again even if an equal build is in the cache."""
    timed_builds: bool = True
    """Build one contender after the other, and time each build. A first look builds several at once."""
    cpu_limit: float | None = None
    """How many CPUs' time a contender may use."""
    large: bool = False
    """Go beyond one process's file limit where the scenario says how."""
    drain_exhibits: bool = False
    """Also fill a topic in ways that hold a defect on purpose."""
    generators: Generators = field(default_factory=ThisMachine)
    """Where the load comes from."""


@dataclass(frozen=True)
class Bench:
    """The conditions of a run's measurements. Phases read them, and keep what they find out themselves."""

    scenario: Scenario
    loads: Mapping[str, Load]
    profile: Preset
    placement: Placement
    store: RunStore
    scratch: Path
    """A folder for this run alone, removed at its end."""
    seed: int
    watcher: Watcher
    options: MeasurementOptions = field(default_factory=MeasurementOptions)
    contenders: Sequence[Contender] = ()
    """Those that are measured: all that were chosen, and from the rounds on those that hold their contract."""
    tools: Mapping[str, Mapping[str, FoundTool]] = field(default_factory=dict)
    """The tools of each contender."""
    dependencies: Mapping[str, Dependency] = field(default_factory=dict)
    builds: Mapping[str, Built] = field(default_factory=dict)
    """What was built of each contender, once that is done."""
    twin: str | None = None
    """The contender that is a second copy of the baseline: it has a share of the laps, and nothing that costs more."""
    why_not_together: str | None = None
    """Why the contenders cannot all run at once; None if they can. What comes of it is each phase's to say."""
    laps: int | None = None
    """How many laps this round of slices has; the profile's if nothing speaks for another number."""
    lap_watcher: LapWatcher | None = None
    """Called after each lap; None if nobody looks."""
    asked: dict[tuple[object, ...], Any] = field(default_factory=dict)
    """What a contender's runtime says of itself, by question, command and limit: each is asked once."""
    prepared: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """By contender and preparation: what `prepare_once` captured in services that outlive a round."""

    @property
    def generators(self) -> Generators:
        """Where the load comes from."""
        return self.options.generators

    @property
    def calm_loads(self) -> dict[str, Load]:
        """The loads without faults of dependencies."""
        return {name: load for name, load in self.loads.items() if not load.disturb}

    @property
    def disturbed_loads(self) -> dict[str, Load]:
        """The loads with faults of dependencies, which one phase alone puts on."""
        return {name: load for name, load in self.loads.items() if load.disturb}

    def speaking(self, spoken: SpokenProtocol) -> Bench:
        """The same for a scenario that is asked in this protocol. Each load keeps its own."""
        own = self.scenario.model_copy(update={"protocol": spoken.protocol, "tls": spoken.tls and spoken.settings})
        return replace(self, scenario=own)

    def log(self, process: Process) -> Path:
        """The file for a process's output, which is put on record."""
        path = self.store.logs / f"{process.id}.log"
        process.log = str(path.relative_to(self.store.folder))
        return path

    def log_tail(self, process: Process) -> list[str]:
        """The last lines of a process's log; none if it has written nothing."""
        return tail(self.store.logs / f"{process.id}.log")

    def put_load(self, job: LoadJob, on_event: Callable[[Event], None] = lambda _event: None) -> LoadResult:
        """Carry out a load job, from wherever the load comes; `on_event` sees its events. Raises TouchstoneError."""

        def seen(event: Event) -> None:
            on_event(event)
            self.watcher.event(event)

        result = self.generators.put_load(job, seen)
        # The load is on record once, as the scenario states it.
        result.job = {}
        return result

    def take_turns(self, loads: Mapping[str, Traffic], timeout_s: float) -> AbstractContextManager[SlicesSession]:
        """Open a session of loads in slices, by contender; a request may take `timeout_s`. Raises TouchstoneError."""
        job, names = slices_job(loads, self.placement.engine_cpus), list(loads)

        def seen(event: Event) -> None:
            # A session of one contender may have a name of its own: what began says whose it is.
            named = names[event["contender"]] if len(names) > 1 else None
            self.watcher.event({**event, "contender": named})

        return self.generators.take_turns(job, timeout_s, seen)


@dataclass
class Stopwatch:
    """How long a measurement takes: for the record, never for a figure."""

    _start: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start


def blank_process(bench: Bench, phase: str, contender: str, round_number: int | None) -> Process:
    """The record of a process that is to be started, for several samples of a round."""
    return Process(
        id=bench.store.next_id(phase, contender, None, round_number), contender=contender, placement=bench.placement
    )


def blank_sample(
    bench: Bench,
    phase: str,
    contender: str,
    *,
    load: str | None = None,
    round_number: int | None = None,
    position: int = 0,
    process: Process | None = None,
) -> Sample:
    """A sample with its identity filled in, of which the watcher hears. `load` names one of the run's loads.

    `process` is the one that other samples have, too; without it the sample gets one of its own.
    """
    sample_id = bench.store.next_id(phase, contender, load, round_number)
    sample = Sample(
        id=sample_id,
        phase=phase,
        scenario=bench.scenario.name,
        scenario_version=bench.scenario.version,
        contender=contender,
        load=load,
        spec=spec_of(bench.loads[load]) if load and PHASES[phase].by_load else LoadSpec(),
        round=round_number,
        position=position,
        started_at=datetime.now(UTC),
        process=process or Process(id=sample_id, contender=contender, placement=bench.placement),
    )
    bench.watcher.begins(sample)
    return sample


def failed(error: TouchstoneError, lines: list[str]) -> Failure:
    """The record of an error that stopped a phase, with the last lines of a log."""
    where = error.where and shown_text(error.where)
    return Failure(what=shown_text(error.what), where=where, fix=error.fix, tail=[shown_text(line) for line in lines])


@contextmanager
def attempting(bench: Bench, sample: Sample) -> Iterator[Sample]:
    """The sample, to be filled. An error becomes its failure, with the log's last lines, and loses nothing.

    The time is added to the sample's, which may be attempted in parts.
    """
    watch = Stopwatch()
    try:
        yield sample
    except TouchstoneError as error:
        sample.failure = failed(error, bench.log_tail(sample.process))
    sample.took_s += watch.seconds


@contextmanager
def sampling(
    bench: Bench,
    phase: str,
    contender: str,
    *,
    load: str | None = None,
    round_number: int | None = None,
    position: int = 0,
) -> Iterator[Sample]:
    """A context that yields a sample to fill, with its identity from `blank_sample`."""
    sample = blank_sample(bench, phase, contender, load=load, round_number=round_number, position=position)
    with attempting(bench, sample):
        yield sample


@contextmanager
def failing_alone(sample: Sample) -> Iterator[None]:
    """A context for one of several samples: an error becomes its failure, and nothing to the others."""
    try:
        yield
    except TouchstoneError as error:
        sample.failure = failed(error, [])


def attempt_together(samples: Sequence[Sample], action: Callable[[], None]) -> None:
    """Carry out what measures these samples at once. An error becomes the failure of each that has no result yet."""
    watch = Stopwatch()
    try:
        action()
    except TouchstoneError as error:
        for sample in samples:
            if sample.failure is None and not sample.figures and not sample.not_measured:
                sample.failure = failed(error, [])
    for sample in samples:
        sample.took_s = watch.seconds
