"""A contender that runs: fresh dependencies, a process of its own, and proof that it is the one that answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from touchstone.bench.artifact_identity import clear_work, identity
from touchstone.bench.base import Bench, Built, Certificate, Ports
from touchstone.bench.certificate import certificate_for
from touchstone.bench.contained import container_spec
from touchstone.bench.mapped import files_in_use
from touchstone.bench.own_places import own_places
from touchstone.bench.ports import ports_for
from touchstone.bench.runtime import note_runtime
from touchstone.bench.waiting import wait_until_ready
from touchstone.dependency.base import Dependency
from touchstone.engine.ask import AskedService
from touchstone.engine.job import watch
from touchstone.engine.protocol import Watch
from touchstone.isolation.cgroup import Cgroup, create_cgroup
from touchstone.isolation.confinement import ConfinementWatch
from touchstone.isolation.container import start_container
from touchstone.isolation.delegation import lacking
from touchstone.isolation.log_files import grown, log_files
from touchstone.isolation.long_log import shorten
from touchstone.isolation.port import foreign_listener
from touchstone.isolation.private_places import PrivatePlaces
from touchstone.isolation.process import ServerProcess, StartError, start_process
from touchstone.isolation.written import written_so_far
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Setting
from touchstone.manifest.spoken import PLAIN, SpokenProtocol
from touchstone.record.evidence.surroundings import Confinement, CpuAtEnd
from touchstone.record.process import Placement, Process, Written
from touchstone.record.secret import shown_command, shown_environment


@dataclass
class StartedService:
    """A contender that has given its first correct response."""

    process: ServerProcess
    host: str
    ports: Ports
    leftovers: Mapping[str, list[str]]
    """What each dependency still held from before its reset."""
    dependencies: Mapping[str, Dependency]
    """Its dependencies by name, which can be asked about its work."""
    cpus: Sequence[int]
    """The CPUs that it was given."""
    spoken: SpokenProtocol = PLAIN
    """What is spoken with it."""
    address: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    unwatched: str | None = None
    outlives_rounds: bool = False
    stopped_for_s: float | None = None
    """For how many seconds it has had SIGTERM already; None unless a measurement of its end has sent it."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return self.service.url

    @property
    def service(self) -> AskedService:
        """The same, for the contract check."""
        return AskedService.at(self.host, self.ports.main, spoken=self.spoken, grpc_port=self.ports.grpc)

    @property
    def pid(self) -> int:
        """The root of its process tree."""
        return self.process.pid

    @property
    def cgroup(self) -> Cgroup | None:
        """Its own group, where groups are permitted."""
        return self.process.cgroup

    def exited(self) -> str | None:
        """How it ended, in words; None while it lives."""
        return self.process.exited()

    def watch(self, after_s: float) -> Watch:
        """What the engine samples next to a load, and `after_s` beyond its end."""
        folders = [str(folder) for folder in self.cgroup.folders] if self.cgroup else []
        trees = {name: dependency.pids() for name, dependency in self.dependencies.items()}
        return watch(self.process.pid, folders, self.cpus, after_s=after_s, dependencies=trees)

    def foreign_listener(self) -> str | None:
        """Other processes on its ports, in words; None if they are ours alone."""
        own = [process.pid for process in self.process.tree()]
        return next(filter(None, (foreign_listener(port, own) for port in self.ports.all)), None)


def reset_dependencies(bench: Bench, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Make every dependency fresh; what each still held from before."""
    return {name: dep.reset(dict(settings.get(name, {}))) for name, dep in bench.dependencies.items()}


def contender_environment(
    bench: Bench,
    built: Built,
    ports: Ports,
    certificate: Certificate | None,
    overrides: Mapping[str, Setting] | None = None,
) -> dict[str, str]:
    """The whole environment of a contender: its own, the scenario's equal settings, dependencies, host and ports.

    With a `certificate` it is to speak TLS, and learns its files. `overrides` are settings of the scenario that a phase
    changes for all contenders alike.
    """
    env = dict(built.env)
    for name, value in {**bench.scenario.settings, **(overrides or {})}.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        env[name] = text.replace("{cpus}", str(max(1, len(bench.placement.server_cpus))))
    for dependency in bench.dependencies.values():
        env |= dependency.environment()
    if certificate is not None:
        env |= {"TLS_CERT": str(certificate.cert), "TLS_KEY": str(certificate.key)}
    return env | {"HOST": bench.generators.host, **ports.environment}


def limit_cpus(cgroup: Cgroup | None, record: Process, cpus: float | None) -> None:
    """Give a contender's cgroup this many CPUs' time, and put it on record. None sets no limit. Raises StartError."""
    if cpus is None:
        return
    if cgroup is None or not cgroup.limit_cpus(cpus):
        raise _no_limit(cgroup, f"a limit of {cpus:g} CPUs", "cpu")
    record.placement = record.placement.model_copy(update={"cpu_limit": cpus})


def _limit_memory(cgroup: Cgroup | None, record: Process, limit: int | None) -> None:
    """Give a contender's cgroup a memory limit in bytes, and record it. None sets no limit. Raises StartError."""
    if limit is None:
        return
    if cgroup is None or not cgroup.limit_memory(limit):
        raise _no_limit(cgroup, f"a memory limit of {limit / 2**20:g} MiB", "memory")
    record.placement = record.placement.model_copy(update={"memory_limit": limit})


def _no_limit(cgroup: Cgroup | None, limit: str, controller: str) -> StartError:
    """The error about a limit that the kernel does not keep; the group is removed."""
    if cgroup is not None:
        cgroup.remove()
    if refusal := lacking(controller):
        return StartError(f"not measured: {limit} needs a cgroup: {refusal.why}", fix=refusal.fix)
    return StartError(
        f"not measured: {limit} needs the controller {controller}, which was switched off while touchstone ran",
        fix="find out what else writes to touchstone's cgroup; systemd leaves it alone if `Delegate` is set",
    )


def start_built(
    bench: Bench,
    built: Built,
    record: Process,
    env: Mapping[str, str],
    *,
    log: Path,
    memory_limit: int | None,
    cpu_limit: float | None,
    places: PrivatePlaces | None,
) -> ServerProcess:
    """The contender as a process, or as a container, in a control group with its limits. Raises StartError."""
    if built.image is not None:
        spec = container_spec(bench, built.image, env, memory_limit=memory_limit, cpu_limit=cpu_limit)
        contained = start_container(built.image.runtime, spec, log=log)
        record.placement = _placed(bench, contained.cgroup, memory_limit, cpu_limit)
        return contained
    cgroup = create_cgroup()
    record.placement = _placed(bench, cgroup, None, None)
    _limit_memory(cgroup, record, memory_limit)
    limit_cpus(cgroup, record, cpu_limit)
    cpus = bench.placement.server_cpus
    return start_process(built.argv, env=env, cwd=built.cwd, log=log, cpus=cpus, cgroup=cgroup, places=places)


def _placed(bench: Bench, cgroup: Cgroup | None, memory_limit: int | None, cpu_limit: float | None) -> Placement:
    version = f"version {cgroup.version}" if cgroup else None
    return bench.placement.model_copy(update={"cgroup": version, "memory_limit": memory_limit, "cpu_limit": cpu_limit})


@contextmanager
def running(
    bench: Bench,
    built: Built,
    record: Process,
    *,
    under: Load | None = None,
    overrides: Mapping[str, Setting] | None = None,
    patience_s: float = 10.0,
    ready_within_s: float | None = None,
    before_start: Callable[[], None] = lambda: None,
    shares_places: bool = False,
) -> Iterator[StartedService]:
    """Start a contender with fresh dependencies, and end it whatever happens. Raises StartError.

    What is known of its process is in `record` when the context ends.
    `under` is the load that is to come: what is spoken, the settings of dependencies and the limits of memory and CPUs
    are its own; its CPUs go before the whole run's, if there are any. Without one the scenario says what is spoken.
    `overrides` are the contender's settings that differ from the scenario's.
    `patience_s` is how long it may take to end after SIGTERM, `ready_within_s` to give its first correct response; as
    the scenario says if it is None.
    `before_start` is called when the dependencies are fresh and the contender does not run yet.
    `shares_places` leaves it the machine's own temporary folders, for tools that meet it there.
    """
    leftovers = reset_dependencies(bench, under.dependency_settings if under else {})
    record.left_out += [sentence for dependency in bench.dependencies.values() if (sentence := dependency.not_done())]
    before_start()
    host = bench.generators.host
    ports = ports_for(bench, built)
    spoken = under.spoken if under else bench.scenario.spoken
    certificate = certificate_for(bench, spoken)
    command = built.argv
    built = built.at(host, ports, certificate)
    env = contender_environment(bench, built, ports, certificate, overrides)
    record.argv, record.env = list(shown_command(built.argv)), shown_environment(env)
    record.artifacts = identity(built)
    record.left_in_work = clear_work(built)
    log = bench.log(record)
    memory_limit = under.memory_limit_mb * 2**20 if under and under.memory_limit_mb else None
    cpu_limit = (under.cpus if under else None) or bench.options.cpu_limit
    with own_places(built, env, bench.store.folder) if not shares_places else nullcontext() as places:
        process = start_built(
            bench, built, record, env, log=log, memory_limit=memory_limit, cpu_limit=cpu_limit, places=places
        )
        contender: StartedService | None = None
        try:
            note_runtime(bench, built, record, env, command)
            with ConfinementWatch(process, bench.placement.server_cpus, memory_limit, cpu_limit) as watch:
                wait_until_ready(bench, process, ports, ready_within_s or bench.scenario.ready.within_s, spoken)
                logs, written = log_files(process.tree(), log), written_so_far(process.tree())
                contender = StartedService(
                    process,
                    host,
                    ports,
                    leftovers,
                    bench.dependencies,
                    bench.placement.server_cpus,
                    spoken,
                    allowed_hosts=(host,) if bench.generators.places else (),
                )
                yield contender
                record.log_file_bytes = grown(logs, log_files(process.tree(), log), built.cwd)
                record.written = Written.model_validate(written_so_far(process.tree()).since(written))
                folders = [folder for one in bench.dependencies.values() for folder in one.folders()]
                record.mapped = files_in_use(process.tree(), apart=[built.cwd, *folders])
                if found := watch.account():
                    record.confinement.append(Confinement.model_validate(found))
            if contender.stopped_for_s is None:
                record.server_exit = process.exited()
                record.foreign_listener = None if record.server_exit else contender.foreign_listener()
        finally:
            if killed := process.oom_kills():
                record.oom_kills = killed
            record.stopped = process.stop(patience_s, contender.stopped_for_s if contender else None)
            if used := process.cpu_at_end:
                record.cpu_at_end = CpuAtEnd.model_validate(asdict(used))
            record.log_bytes = shorten(log)
