"""The load sequence: prepare, make the job, watch, load, prove the work, check the contract again.

A phase says what is special about its load: how long it lasts, whether contenders take turns, what is read of the
result. The order of the steps, the seeds, and what is skipped for a contender that died or runs outside are here alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from touchstone.bench.base import Bench, failing_alone
from touchstone.bench.running_contender import RunningContender
from touchstone.contract.checker import ContractChecker, light_checks
from touchstone.contract.proof import Tally
from touchstone.contract.values import fresh_of
from touchstone.engine.job import Timing, load_job, traffic
from touchstone.engine.protocol import LoadJob, Traffic
from touchstone.manifest.load import Load
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample
from touchstone.traffic.after_answers import look_after_answers
from touchstone.traffic.dependency_watch import DependencyWatch
from touchstone.traffic.machine_watch import MachineWatch
from touchstone.traffic.null_server import EngineServer, null_server
from touchstone.traffic.prepare import not_asked, prepare_load, prepare_once, prove_load, work_before


@dataclass
class LoadSequence:
    """One load on one contender that runs. Its steps fill the sample, and raise TouchstoneError."""

    bench: Bench
    running: RunningContender
    load: Load
    sample: Sample
    captured: Mapping[str, str] | None = None
    """What an earlier load's preparation captured of the same process; None to prepare it."""
    checker: ContractChecker = field(init=False)
    _before: Sequence[float] = ()

    def __post_init__(self) -> None:
        self.checker = ContractChecker(self.running.service, self.running.dependencies, self.bench.seed)

    def prepare(self) -> LoadSequence:
        """Send what goes before the load, and put its captures into the load."""
        self.sample.left_out += not_asked(self.load, self.running.dependencies)
        if self.running.outlives_rounds:
            self.captured = prepare_once(self.bench, self.sample.contender, self.checker, self.load, self.sample)
        elif self.load.prepare and self.captured is None:
            self.captured = prepare_load(self.checker, self.load, self.bench.seed)
        self.load = self.load.with_captured(self.captured or {})
        return self

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A context around the load: what the machine and the dependencies did meanwhile is in the sample after it."""
        self._before = work_before(self.load, self.running.dependencies, self.bench.seed)
        machine = MachineWatch(self.running.cgroup)
        with DependencyWatch(self.running.dependencies, self.running.leftovers) as observed:
            yield
        self.sample.machine, self.sample.dependencies = machine.end(), observed.states

    @property
    def url(self) -> str:
        """Where the load goes."""
        return self.running.service.url_of(*self.load.all_requests)

    @property
    def seed(self) -> int:
        """The seed of the load's draws: each round has its own."""
        return self.bench.seed + (self.sample.round or 0)

    def job(self, timing: Timing, *, watch: bool = True) -> LoadJob:
        """A job for the whole load; with `watch`, processes are watched until `timing.idle_s` after it."""
        cpus = self.bench.placement.engine_cpus
        job = load_job(self.load, self.url, timing, cpus=cpus, seed=self.seed, fresh=fresh_of(self.bench.seed))
        self._aim(job, timing.idle_s if watch else None)
        return job

    def turns(self, after_s: float) -> Traffic:
        """The contender's part of a job in slices; processes are watched until `after_s` after it."""
        job = traffic(self.load, self.url, seed=self.seed, fresh=fresh_of(self.bench.seed))
        self._aim(job, after_s)
        return job

    def _aim(self, job: LoadJob | Traffic, after_s: float | None) -> None:
        """Complete a job with its address, its permitted hosts and the watched processes."""
        if (address := self.running.address) is not None:
            job["connect_to"] = address
        if self.running.allowed_hosts:
            job["allow_hosts"] = list(self.running.allowed_hosts)
        if after_s is not None and (found := self.running.watch(after_s)) is not None:
            job["watch"] = found

    def prove(self, tally: Tally) -> None:
        """Ask the dependencies for the proof of the work that was tallied. The contender may have ended."""
        proofs = prove_load(self.load, self.running.dependencies, tally, self.bench.seed, self._before)
        self.sample.proofs = proofs

    def settle(self, result: LoadResult | None, *, last: bool = True, look: bool = False) -> None:
        """Check the proof of `result`'s work, if known, and then the contract again.

        Nothing is asked of a contender that has ended. `last` says that its process serves no further load; with `look`
        a few single requests show what dependencies do around their responses.
        """
        if self.running.exited() is not None:
            return
        dependencies, seed = self.running.dependencies, self.bench.seed
        if result is not None:
            totals = result.totals
            uncertain, beyond = totals.sent - totals.completed, self.sample.asked_in_load
            self.prove(Tally(sent=totals.sent, ok=totals.ok, uncertain=uncertain, beyond=beyond))
            if look:
                states, sent = self.sample.dependencies, totals.sent
                look_after_answers(self.load, self.running.service, dependencies, states, seed=seed, sent=sent)
        last = last and not self.running.outlives_rounds
        self.sample.checks = self.checker.run(
            light_checks(self.bench.scenario.contract_over(self.load.protocol), last=last)
        )


def prepared(sequences: Iterable[LoadSequence]) -> list[LoadSequence]:
    """Prepare each; those that could be prepared. An error becomes the failure of its sample alone."""
    found = []
    for one in sequences:
        with failing_alone(one.sample):
            found.append(one.prepare())
    return found


@contextmanager
def loaded_together(bench: Bench, load: Load, sequences: Sequence[LoadSequence]) -> Iterator[EngineServer]:
    """A context with the fitting null server, in which contenders are loaded in turn and watched."""
    with ExitStack() as stack:
        null = stack.enter_context(null_server(bench, load))
        for one in sequences:
            stack.enter_context(one.watched())
        yield null
