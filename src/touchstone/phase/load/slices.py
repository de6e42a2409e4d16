"""Loads in slices: all contenders run at once, and each gets its load in turn while the others rest.

What the machine does in the meantime falls on neighbouring slices alike, so that it cancels in their ratio. One
process of each contender serves all loads of a round, in an order drawn anew: a runtime that compiles while it runs is
warmed up once a round, and its memory is that of a service which has worked for a while.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from touchstone.bench.base import Bench, attempt_together, blank_sample, failed
from touchstone.bench.dependency_watch import DependencyWatch
from touchstone.bench.engaged import aim
from touchstone.bench.machine_watch import MachineWatch
from touchstone.bench.tare import EngineServer
from touchstone.bench.together import Started, divisible, pass_on, started
from touchstone.contract.checker import Checker, light_checks
from touchstone.contract.values import fresh_of
from touchstone.engine.job import slices_job, traffic
from touchstone.engine.protocol import SlicesJob, Traffic
from touchstone.engine.slices import SlicesResult, SlicesSession, Turn, TurnRecord
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Act
from touchstone.manifest.load import Load
from touchstone.phase.load.after_answers import look_after_answers
from touchstone.phase.load.figures import memory_remarks, sliced_figures, throttled_share
from touchstone.phase.load.fitting import files_suffice
from touchstone.phase.load.prepare import not_asked, prepare_load, prepare_once, prove_load, work_before
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.load.tare import null_load, null_server
from touchstone.phase.load.warm_up import warm_up
from touchstone.phase.load.warming import Budget, fell_silent, turn_rate
from touchstone.plan.laps import balanced_laps, slice_lengths
from touchstone.record.engine import LoadResult, Machine, Stranger
from touchstone.record.evidence.slices import Slice, SlicesEvidence, WarmUp
from touchstone.record.sample import TARE, Sample

_TOLD = 3
"""Strangers that are told by name, as many as the engine tells of a slice."""
_UNBROKEN_S = 1.5
"""Longer than the second for which the buckets of rate limiters usually last."""
_UNBROKEN_ROUNDS = 2
"""One such turn may be disturbed by chance; of two hardly both."""
_KEPT = 0.8
"""The share of their rate at which all are clear of doubt after the first."""


def sliced_loads(bench: Bench) -> dict[str, Load]:
    """The loads that can be put on in slices; the others keep whole windows, and those that ask for them.

    Steps and ramps are one climb, a preparation that acts on a dependency acts on what contenders share, and a load of
    more connections than one process may open is spread over processes, but on other machines. Contenders that do not
    fit into the memory at once have all their loads in whole windows.
    """
    if not divisible(bench) or bench.apart is not None:
        return {}
    return {
        name: load
        for name, load in bench.loads.items()
        if load.loop in {"closed", "open"}
        and not load.whole_windows
        and not any(isinstance(step, Act) for step in load.prepare)
        and (bench.generators.places or files_suffice(load, len(bench.builds) + bench.outside))
    }


def measure_slices(bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
    """The samples of each sliced load of one round, the tare's among them, as soon as the load is over."""
    loads = sliced_loads(bench)
    dice = random.Random(f"{bench.seed}-slices-{round_number}")
    for names in _sharing(loads):
        dice.shuffle(names)
        # At an open loop's rate a young process warms up for long; after a closed one it is warm.
        names.sort(key=lambda name: loads[name].loop == "open")
        first = loads[names[0]]
        reasons = [(one, out_of_reach(one, first)) for one in contenders]
        yield [unmeasured(bench, one, name, round_number, why) for one, why in reasons if why for name in names]
        able = [one for one, why in reasons if why is None]
        if not able:
            continue
        kept: list[tuple[Sample | None, list[Sample]]] = []
        with started(bench, able, round_number, under=first) as (found, fallen):
            for number, name in enumerate(names):
                last = number == len(names) - 1
                one = _SlicedLoad(bench, name, loads[name], round_number, found, last=last)
                measured = one.measure()
                kept += [(s.carrier, [m for m in measured if m.contender == s.contender.name]) for s in found]
                kept.append((None, [m for m in measured if m.contender == TARE]))
        for carrier, samples in kept:
            if carrier is not None:
                for sample in samples:
                    pass_on(carrier, sample)
            yield samples
        for carrier in fallen.values():
            yield [_copy_for(bench, carrier, name) for name in names]


def _sharing(loads: Mapping[str, Load]) -> list[list[str]]:
    """Names of loads that one process can serve in turn: with equal limits, dependency settings and preparation.

    What prepares one load may be what another one's preparation trips over. A load without any goes with the first.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for name, load in loads.items():
        alike = f"{load.memory_limit_mb} {load.cpus} {sorted(load.dependency_settings.items())}"
        prepared = "".join(step.model_dump_json() for step in load.prepare)
        groups.setdefault(alike, {}).setdefault(prepared, []).append(name)
    found = []
    for by_preparation in groups.values():
        plain = by_preparation.pop("", [])
        first, *rest = list(by_preparation.values()) or [[]]
        found += [group for group in (first + plain, *rest) if group]
    return found


def _copy_for(bench: Bench, carrier: Sample, load: str) -> Sample:
    """A contender that did not start has failed under every load."""
    sample_id = bench.store.next_id("load", carrier.contender, load, carrier.round)
    return carrier.model_copy(update={"id": sample_id, "load": load})


@dataclass
class _SlicedLoad:
    """One load of one round on all contenders that stand, and on the null server."""

    bench: Bench
    name: str
    load: Load
    round_number: int
    started: list[Started]
    last: bool
    """True if they serve no other load after it."""
    samples: list[Sample] = field(default_factory=list)
    records: list[TurnRecord] = field(default_factory=list)

    def measure(self) -> list[Sample]:
        """The samples, in the job's order: contenders, then the tare. What goes wrong becomes their failure."""
        self.samples = [
            blank_sample(self.bench, "load", name, load=self.name, under=self.load, round_number=self.round_number)
            for name in [*(one.contender.name for one in self.started), TARE]
        ]
        attempt_together(self.samples, self._measure)
        return self.samples

    def _measure(self) -> None:
        bench, after_s = self.bench, self.bench.profile.timing(self.load, self.round_number).idle_s
        checkers = [self._prepared(index, s) for index, s in enumerate(self.started)]
        before = [work_before(self.load, s.bench.dependencies, bench.seed) for s in self.started]
        bench.watcher.step(f"loading in turns: {self.name}")
        with ExitStack() as stack:
            null = stack.enter_context(null_server(bench, self.load))
            job = self._job(null, after_s)
            machines = [MachineWatch(s.running.cgroup) for s in self.started]
            watches = [
                stack.enter_context(DependencyWatch(s.bench.dependencies, s.running.leftovers)) for s in self.started
            ]
            with bench.take_turns(job, self.load.timeout_s) as session:
                warm_ups = self._warm_up(session)
                self._without_rest(session)
                slice_s = self._slice_lengths()
                self._laps(session, slice_s)
                result = session.finish(after_s)
        self._keep(result, warm_ups, slice_s)
        for index, one in enumerate(self.started):
            sample = self.samples[index]
            sample.machine = machines[index].end()
            sample.dependencies = watches[index].states
            for state in sample.dependencies:
                # Over the whole session its CPU went to all contenders; the engine counts it turn by turn.
                state.cpu_s = None
                state.ceiling = bench.ceilings.get((self.name, state.name))
            checker = checkers[index]
            if checker is None or sample.result is None or one.running.exited() is not None:
                continue
            try:
                self._prove(one, sample, sample.result, before[index])
                last = self.last and not one.running.outlives_rounds
                sample.checks = checker.run(light_checks(bench.scenario.contract, last=last))
            except TouchstoneError as error:
                # Its own dependency may be gone; that is nothing to the others.
                sample.failure = failed(error, [])

    def _prove(self, one: Started, sample: Sample, result: LoadResult, before: Sequence[float]) -> None:
        dependencies = one.bench.dependencies
        sample.proofs = prove_load(self.load, dependencies, result, self.bench.seed, before)
        if self.round_number == 1:
            look_after_answers(
                self.load.with_captured(one.prepared or {}),
                one.running.service,
                dependencies,
                sample.dependencies,
                seed=self.bench.seed,
                sent=result.totals.sent,
            )

    def _prepared(self, index: int, one: Started) -> Checker | None:
        checker = Checker(one.running.service, one.bench.dependencies, self.bench.seed)
        sample = self.samples[index]
        sample.left_out = not_asked(self.load, one.bench.dependencies)
        try:
            if one.running.outlives_rounds:
                one.prepared = prepare_once(self.bench, sample.contender, checker, self.load, sample)
            elif self.load.prepare and one.prepared is None:
                one.prepared = prepare_load(checker, self.load, self.bench.seed)
        except TouchstoneError as error:
            sample.failure = failed(error, [])
            return None
        return checker

    def _job(self, null: EngineServer, after_s: float) -> SlicesJob:
        seed = self.bench.seed + self.round_number
        contenders: dict[str, Traffic] = {}
        for one in self.started:
            sent = self.load.with_captured(one.prepared or {})
            job = traffic(sent, one.running.url, seed=seed, fresh=fresh_of(self.bench.seed))
            aim(job, one.running, after_s)
            contenders[one.contender.name] = job
        bare = traffic(null_load(self.load), null.url, seed=seed, fresh=None)
        contenders[TARE] = {**bare, "watch": null.watch}
        return slices_job(contenders, self.bench.placement.engine_cpus)

    @property
    def _live(self) -> list[int]:
        """The contenders that can be loaded, by their place in the job; the tare is the last."""
        return [index for index, sample in enumerate(self.samples) if sample.failure is None]

    def _warm_up(self, session: SlicesSession) -> dict[int, WarmUp]:
        """Laps until no contender gets faster any more, or its time is used up."""
        profile = self.bench.profile
        least_s = profile.warm_least_of(self.load)
        budget = Budget(least_s, max(least_s, profile.warm_most_s))
        null = len(self.started)
        places = [index for index in self._live if index != null]
        before = {index: self.started[index].first_warm_up for index in places}
        records, accounts = warm_up(
            session,
            {index: self.samples[index].contender for index in places},
            {index: budget if first is None else budget.after(first) for index, first in before.items()},
            profile.slice_s,
            lambda text: self.bench.watcher.step(f"warming up for {self.name}: {text}"),
            null=null if null in self._live else None,
        )
        self.records += records
        for index, account in accounts.items():
            self.started[index].first_warm_up = before[index] or account
        return accounts

    def _without_rest(self, session: SlicesSession) -> None:
        """A long turn of each contender and the null server, as the last of the warm-up, in the first rounds.

        What is refilled while others have their turn, such as the tokens of a rate limiter, lasts for a short one.
        """
        settled = self.name in self.bench.keep_their_rate or self.round_number > _UNBROKEN_ROUNDS
        if self.load.loop != "closed" or settled:
            return
        self.bench.watcher.step(f"{self.name}: without a rest")
        answering = [index for index in self._live if not fell_silent(self._turns(index))]
        for record in session.turns("warmup", [Turn(index, _UNBROKEN_S) for index in answering]):
            record.unbroken = True
            self.records.append(record)

    def _note_who_keeps_the_rate(self) -> None:
        kept = [one for sample in self.samples if sample.slices and (one := sample.slices.kept) is not None]
        if kept and min(kept) >= _KEPT:
            self.bench.keep_their_rate.add(self.name)

    def _slice_lengths(self) -> dict[int, float]:
        """By contender; in a closed loop as long as whole generations need. Raises TouchstoneError."""
        usual = self.bench.profile.slice_of(self.load)
        if self.load.loop != "closed":
            # The null server's percentiles are asked for by rules alone.
            null = {len(self.started): self.bench.profile.slice_s}
            return {index: null.get(index, usual) for index in self._live}
        last = {record.contender: record for record in self.records}
        rates = {index: turn_rate(record) for index, record in last.items() if index in self._live}
        places = self.load.connections * self.load.pipeline
        lengths = slice_lengths(places, rates, usual)
        slowest = min(rates, key=lambda index: rates[index], default=None)
        if self.bench.slice_is_fixed and slowest is not None and lengths[slowest] > usual:
            raise TouchstoneError(
                f"slices of {usual:g} s are too short: {self.samples[slowest].contender} responds {rates[slowest]:.3g} "
                f"times a second on {places} connections, which takes {lengths[slowest]:.2g} s for whole generations",
                where=f"load {self.name}",
                fix=f"give --slice {lengths[slowest]:.2g} or more, or leave it out",
            )
        return lengths

    def _laps(self, session: SlicesSession, slice_s: Mapping[int, float]) -> None:
        live, laps = self._live, self.bench.laps or self.bench.profile.laps_of(self.load)
        orders = balanced_laps(len(live), laps, random.Random(f"{self.bench.seed}-{self.name}-{self.round_number}"))
        known = ""
        for lap, order in enumerate(orders):
            self.bench.watcher.step(f"{self.name}: lap {lap + 1} of {laps}{known}")
            turns = [live[place] for place in order if not fell_silent(self._lapped(live[place]))]
            for record in session.turns("load", [Turn(index, slice_s[index]) for index in turns]):
                record.lap = lap
                self.records.append(record)
            if self.bench.lap_watcher is not None:
                self._put_slices({}, slice_s)
                known = self.bench.lap_watcher.after_lap(self.samples)

    def _lapped(self, index: int) -> list[TurnRecord]:
        """A contender's turns that count, until now."""
        return [record for record in self._turns(index) if record.lap is not None]

    def _turns(self, index: int) -> list[TurnRecord]:
        """All of a contender's turns, until now."""
        return [record for record in self.records if record.contender == index]

    def _keep(self, result: SlicesResult, warm_ups: dict[int, WarmUp], slice_s: Mapping[int, float]) -> None:
        self._put_slices(warm_ups, slice_s)
        self._note_who_keeps_the_rate()
        for index, sample in enumerate(self.samples):
            if sample.slices is None:
                continue
            own = sample.slices.slices
            sample.result = _with_machine(result.contenders[index], own)
            one = self.started[index] if index < len(self.started) else None
            unwatched = one.running.unwatched if one else None
            sample.figures, sample.not_measured = sliced_figures(sample.result, own, unwatched)
            carrier = one.carrier if one else None
            if carrier is not None and carrier.placement.cpu_limit is not None:
                throttled_share(sample.result, sample.figures, sample.not_measured)
            sample.remarks = memory_remarks(sample.result)

    def _put_slices(self, warm_ups: Mapping[int, WarmUp], slice_s: Mapping[int, float]) -> None:
        """Give each sample the slices that it has until now."""
        order = [sample.contender for sample in self.samples]
        for index, sample in enumerate(self.samples):
            if sample.failure is None:
                own = [Slice.model_validate(r.model_dump()) for r in self.records if r.contender == index]
                sample.slices = SlicesEvidence(
                    order=order, slice_s=slice_s[index], warm_up=warm_ups.get(index), slices=own
                )


def _with_machine(result: LoadResult, slices: Sequence[Slice]) -> LoadResult:
    """The result with what else used the machine within the contender's own measured slices."""
    measured = [one for one in slices if one.lap_phase == "load"]
    stolen, others = _sum(s.steal_s for s in measured), _sum(s.other_cpu_s for s in measured)
    dependencies: dict[str, float] = {}
    for one in measured:
        for name, used in (one.dependencies_cpu_s or {}).items():
            dependencies[name] = dependencies.get(name, 0.0) + used
    result.machine = Machine(
        steal_s=stolen,
        other_cpu_s=others,
        strangers=_busiest(stranger for one in measured for stranger in one.strangers),
        dependencies_cpu_s=dependencies or None,
    )
    return result


def _busiest(strangers: Iterable[Stranger]) -> list[Stranger]:
    """The processes that used most over all slices."""
    used: dict[tuple[int, str], float] = {}
    for one in strangers:
        used[one.pid, one.name] = used.get((one.pid, one.name), 0.0) + one.cpu_s
    most = sorted(used.items(), key=lambda entry: -entry[1])[:_TOLD]
    return [Stranger(pid=pid, name=name, cpu_s=cpu_s) for (pid, name), cpu_s in most]


def _sum(values: Iterator[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
