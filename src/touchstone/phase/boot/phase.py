"""The boot phase: from exec to the first valid response, caught by the engine."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

from touchstone.bench.base import Bench, ImageBuilt, attempting, blank_sample
from touchstone.bench.certificate import certificate_for
from touchstone.bench.contained import container_spec
from touchstone.bench.own_places import own_places
from touchstone.bench.ports import ports_for
from touchstone.bench.readiness import check_readiness
from touchstone.bench.service import contender_environment, limit_cpus, reset_dependencies
from touchstone.bench.together import divisible, with_own_dependencies
from touchstone.bench.waiting import LONGER
from touchstone.engine.ask import AskedService
from touchstone.engine.client import run_job
from touchstone.engine.job import request, tls
from touchstone.engine.protocol import BootJob
from touchstone.isolation.cgroup import create_cgroup
from touchstone.isolation.container import create_container, group_places, remove_container, start_command
from touchstone.isolation.private_places import PrivatePlaces
from touchstone.manifest.catalogue import Contender
from touchstone.phase.base import AllAtOnce, EachInTurn, Phase, PlannedTurn
from touchstone.record.boot_result import START_FIGURES, BootResult, BootRun
from touchstone.record.evidence.boot import BootEvidence
from touchstone.record.sample import Failure, Sample
from touchstone.record.secret import shown_command, shown_environment
from touchstone.vocabulary.phase import PHASES, PhaseKind

_TIMES = ("boot_first_response", "boot_port_open")
"""Figures of a start that are of what was started as a whole."""


_MORE_STARTS, _MORE_S = 10, 0.5
"""A start of milliseconds scatters by a quarter, and another one costs next to nothing: a round has up to this number
of starts, or starts for this long, if that is more than the profile's."""


class BootPhase(Phase):
    """Starts a contender several times; a sample's figures are the medians of its starts.

    Contenders are started in turn, in a new random order for each start, so that disturbances of the machine fall on
    neighbouring starts alike. Where a dependency cannot be divided among them, one is started after the other.
    """

    kind: ClassVar[PhaseKind] = PHASES["boot"]

    def plan(self, bench: Bench, contenders: Sequence[Contender]) -> Iterator[PlannedTurn]:
        """Contenders in turn, if each can have its own part of every dependency."""
        yield AllAtOnce(self.together) if divisible(bench) else EachInTurn()

    def together(self, bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
        """A sample for each contender, once all of them have been started in turn."""
        dice = random.Random(f"{bench.seed}-boots-{round_number}")
        with ExitStack() as stack:
            starting = [
                _Starting(with_own_dependencies(bench, contender, stack), contender, round_number, position)
                for position, contender in enumerate(contenders)
            ]
            while again := [one for one in starting if one.wants_another]:
                for one in dice.sample(again, len(again)):
                    bench.watcher.step(f"starting {one.contender.name}")
                    one.start()
            for one in starting:
                yield [one.finish(in_turn=len(starting) > 1)]

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """A contender's starts in a row."""
        starting = _Starting(bench, contender, round_number or 1, position)
        while starting.wants_another:
            starting.start()
        return [starting.finish(in_turn=False)]


class _Starting:
    """One contender of one round, and its starts until now. What goes wrong becomes the sample's failure."""

    def __init__(self, bench: Bench, contender: Contender, round_number: int, position: int) -> None:
        self.bench, self.contender = bench, contender
        self.sample = blank_sample(bench, "boot", contender.name, round_number=round_number, position=position)
        self.log = bench.log(self.sample.process)
        self.runs: list[BootRun] = []
        self.starts = 0

    @property
    def wants_another(self) -> bool:
        """Whether a further start is due: the profile's, and more of them where they cost next to nothing."""
        if self.sample.failure is not None:
            return False
        if self.starts < self.bench.profile.boots:
            return True
        return self.starts < _MORE_STARTS and self.sample.took_s * (self.starts + 1) / self.starts <= _MORE_S

    def start(self) -> None:
        """Let the engine start it once, on fresh dependencies."""
        self.starts += 1
        with attempting(self.bench, self.sample) as sample:
            with self._job(sample) as (job, places):
                result = run_job("boot", job, BootResult, on_event=self.bench.watcher.event, places=places)
            self.runs += result.runs
            sample.evidence = BootEvidence(runs=self.runs)

    def finish(self, *, in_turn: bool) -> Sample:
        """The sample with its figures. In a run's first round also whether the first response means a ready service."""
        if self.sample.failure is not None:
            return self.sample
        with attempting(self.bench, self.sample) as sample:
            sample.evidence = BootEvidence(runs=self.runs, in_turn=in_turn)
            sample.figures, sample.failure = boot_figures(self.runs)
            if sample.failure is not None:
                return sample
            if self.bench.builds[self.contender.name].image:
                _leave_out_the_client(sample)
            with self._job(sample) as (job, places):
                _boot_cold(self.bench, job, sample, places)
            if sample.round == 1:
                check_readiness(self.bench, self.bench.builds[self.contender.name], sample)
        return self.sample

    @contextmanager
    def _job(self, sample: Sample) -> Iterator[tuple[BootJob, PrivatePlaces | None]]:
        """A job for one start, in its own cgroup and with its own temporary folders."""
        bench, built = self.bench, self.bench.builds[self.contender.name]
        reset_dependencies(bench, {})
        ports = ports_for(bench, built)
        spoken = bench.scenario.spoken
        certificate = certificate_for(bench, spoken)
        built = built.at(bench.generators.host, ports, certificate)
        env = contender_environment(bench, built, ports, certificate)
        sample.process.argv, sample.process.env = list(shown_command(built.argv)), shown_environment(env)
        service = AskedService.at(bench.generators.host, ports.main, spoken=spoken, grpc_port=ports.grpc)
        job: BootJob = {
            "argv": list(built.argv),
            "env": env,
            "cwd": str(built.cwd),
            "url": service.url_of(bench.scenario.ready),
            "protocol": spoken.protocol,
            "tls": tls(spoken),
            "request": request(bench.scenario.ready),
            "repeats": 1,
            "timeout_s": bench.scenario.ready.within_s,
            "poll_interval_s": 0.0001,
            "drop_page_cache": False,
            "settle_s": 0.0,
            "log": str(self.log),
            "stop_timeout_s": 10.0,
        }
        with (
            own_places(built, env, bench.store.folder) as places,
            self._process(sample, job) if built.image is None else self._container(sample, job, built.image),
        ):
            yield job, places

    @contextmanager
    def _process(self, sample: Sample, job: BootJob) -> Iterator[None]:
        """Put the program into a cgroup of its own, on its CPUs."""
        cgroup = create_cgroup()
        try:
            limit_cpus(cgroup, sample.process, self.bench.options.cpu_limit)
            job["cpus"] = list(self.bench.placement.server_cpus)
            job["cgroup_paths"] = [str(folder) for folder in cgroup.folders] if cgroup else []
            yield
        finally:
            if cgroup:
                cgroup.remove()

    @contextmanager
    def _container(self, sample: Sample, job: BootJob, image: ImageBuilt) -> Iterator[None]:
        """Make a container, and let the engine start the runtime's client, which starts it."""
        limit, runtime = self.bench.options.cpu_limit, image.runtime
        sample.process.placement = sample.process.placement.model_copy(update={"cpu_limit": limit})
        container = create_container(runtime, container_spec(self.bench, image, job.pop("env"), cpu_limit=limit))
        try:
            job["argv"] = start_command(runtime, container)
            if "cpuset" not in runtime.controllers:
                job["cpus"] = list(self.bench.placement.server_cpus)
            job["container_groups"] = [str(place) for place in group_places(container)]
            yield
        finally:
            remove_container(runtime, container)


def _boot_cold(bench: Bench, job: BootJob, sample: Sample, places: PrivatePlaces | None) -> None:
    """The same starts with the page cache dropped before each: what the first start after a boot of the machine costs.

    Packed programs show it most: they are read from the disk whole, and unpacked at every start.
    """
    figure = "boot_first_response_cold"
    if "container_groups" in job:
        sample.not_measured[figure] = "an image's files are the runtime's, and stay in the page cache"
        return
    if bench.profile.cold_boots == 0:
        sample.not_measured[figure] = f"the preset {bench.profile.name} does not drop the page cache"
        return
    cold: BootJob = {**job, "drop_page_cache": True, "repeats": bench.profile.cold_boots}
    runs = run_job("boot", cold, BootResult, on_event=bench.watcher.event, places=places).runs
    if sample.boot is not None:
        sample.boot.cold = runs
    good = [run.first_response_s for run in runs if run.cold_cache and run.failure is None and run.first_response_s]
    if good:
        sample.figures[figure] = statistics.median(good)
        return
    reasons = [text for run in runs if (text := run.warm_reason or run.failure)]
    sample.not_measured[figure] = reasons[0] if reasons else "no start gave a correct response"


def _leave_out_the_client(sample: Sample) -> None:
    """Leave out memory and CPU if the container's group is unknown. They would include the runtime's client."""
    if "boot_runtime" in sample.figures:
        return
    reason = "the container's control group was not found where runtimes make them"
    for figure in ("boot_runtime", *(name for name in START_FIGURES if name not in _TIMES)):
        sample.figures.pop(figure, None)
        sample.not_measured[figure] = reason


def boot_figures(runs: Sequence[BootRun]) -> tuple[dict[str, float], Failure | None]:
    """The medians over the starts that gave a correct response, and the failure if none did."""
    good = [run for run in runs if run.failure is None]
    if not good:
        first = runs[0] if runs else None
        what = (
            f"no start gave a correct response: {first.failure} {first.evidence or ''}"
            if first
            else "the engine made no start"
        )
        late = first is not None and first.failure == "timeout"
        return {}, Failure(
            what=what.strip(), fix=f"read the log{f'; give a slow start longer: {LONGER}' if late else ''}"
        )
    figures: dict[str, float] = {}
    for name, attribute in START_FIGURES.items():
        values = [float(value) for run in good if (value := getattr(run, attribute)) is not None]
        if values:
            figures[name] = statistics.median(values)
    return figures, None
