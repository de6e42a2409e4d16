"""Loads in slices.

All contenders run, and one after another gets load.

Disturbances of the machine affect neighbouring slices alike and cancel in their ratio. One
process of each contender serves all loads of a round, in a random order: a runtime that compiles while it runs is
warmed up once a round, and its memory is that of a service which has worked for a while.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from touchstone.bench.at_once import files_suffice
from touchstone.bench.base import Bench, attempt_together, blank_sample, failed, failing_alone
from touchstone.bench.ceiling import Ceilings
from touchstone.bench.together import StartedTogether, divisible, started_together
from touchstone.engine.slices import SlicesResult, SlicesSession, Turn, TurnRecord
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Act
from touchstone.manifest.load import Load
from touchstone.phase.load.figures import keep_figures, sliced_figures
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.phase.load.without_rest import KEPT, load_without_rest
from touchstone.plan.laps import balanced_laps, slice_lengths, twin_laps
from touchstone.record.engine import LoadResult, Machine
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.slices import Slice, SlicesEvidence, WarmUp, part_rate
from touchstone.record.other_process import OtherProcess
from touchstone.record.process import Process
from touchstone.record.sample import TARE, Sample
from touchstone.traffic.contract_in_load import check_contract_in_load
from touchstone.traffic.sequence import LoadSequence, loaded_together, prepared
from touchstone.traffic.warm_up import warm_up
from touchstone.traffic.warming import WarmUpBudget, fell_silent

_BUSIEST = 3
"""Other processes that a result lists; the slices list more."""
_UNBROKEN_ROUNDS = 2
"""One such turn may be disturbed by chance; of two hardly both."""


def sliced_loads(bench: Bench) -> dict[str, Load]:
    """Return the loads that can be measured in slices.

    The others use whole windows.

    Steps and ramps are one climb, a preparation that acts on a dependency acts on what contenders share, and a load of
    more connections than one process may open is spread over processes, but on other machines. Contenders that do not
    fit into the memory at once have all their loads in whole windows.
    """
    if not divisible(bench) or bench.why_not_together is not None:
        return {}
    return {
        name: load
        for name, load in bench.calm_loads.items()
        if load.loop in {"closed", "open"}
        and not load.whole_windows
        and not any(isinstance(step, Act) for step in load.prepare)
        and (bench.generators.places or files_suffice(load, len(bench.contenders)))
    }


@dataclass
class SlicedLoads:
    """The loads in slices of a run, and results of its earlier rounds."""

    loads: Mapping[str, Load]
    ceilings: Ceilings
    keep_their_rate: set[str] = field(default_factory=set)
    """Loads under which all contenders were seen to answer as fast without rests."""

    def measure(self, bench: Bench, contenders: Sequence[Contender], round_number: int) -> Iterator[list[Sample]]:
        """Yield the samples of each load and of the null server in one round."""
        loads = self.loads
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
            known = RoundMemory()
            kept: list[Sample] = []
            with started_together(bench, able, round_number, under=first) as (found, failed_starts):
                for name in names:
                    one = _SlicedLoad(bench, self, name, round_number, found, known, last=name == names[-1])
                    kept += one.measure()
            yield from ([sample] for sample in kept)
            yield from (lost.samples(bench, "load", names, round_number) for lost in failed_starts)


def _sharing(loads: Mapping[str, Load]) -> list[list[str]]:
    """Names of loads that one process can serve in turn: of one protocol, with equal limits, settings and preparation.

    What prepares one load may be what another one's preparation trips over. A load without any goes with the first.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for name, load in loads.items():
        alike = f"{load.spoken} {load.memory_limit_mb} {load.cpus} {sorted(load.dependency_settings.items())}"
        prepared = "".join(step.model_dump_json() for step in load.prepare)
        groups.setdefault(alike, {}).setdefault(prepared, []).append(name)
    found = []
    for by_preparation in groups.values():
        plain = by_preparation.pop("", [])
        first, *rest = list(by_preparation.values()) or [[]]
        found += [group for group in (first + plain, *rest) if group]
    return found


@dataclass
class RoundMemory:
    """What earlier loads of this round showed about each contender's process."""

    captured: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """What their preparation has captured."""
    first_warm_up: dict[str, WarmUp] = field(default_factory=dict)


@dataclass
class _SlicedLoad:
    """One load of one round on all contenders that run, and on the null server."""

    bench: Bench
    over_rounds: SlicedLoads
    name: str
    round_number: int
    started: list[StartedTogether]
    known: RoundMemory
    last: bool
    """True if they serve no other load after it."""
    lanes: list[Sample] = field(default_factory=list)
    """The samples in the job's order: contenders that could be prepared, then the tare."""
    records: list[TurnRecord] = field(default_factory=list)

    @property
    def load(self) -> Load:
        """Return the load of this round."""
        return self.over_rounds.loads[self.name]

    def measure(self) -> list[Sample]:
        """Return the samples of all contenders and the null server. An error becomes a failure of the sample."""
        samples = [self._blank(one.contender.name, one.process) for one in self.started] + [self._blank(TARE)]
        attempt_together(samples, lambda: self._measure(samples))
        return samples

    def _blank(self, contender: str, process: Process | None = None) -> Sample:
        number = self.round_number
        return blank_sample(self.bench, "load", contender, load=self.name, round_number=number, process=process)

    def _measure(self, samples: Sequence[Sample]) -> None:
        bench, after_s = self.bench, self.bench.profile.timing(self.load, self.round_number).idle_s
        captured = self.known.captured
        sequences = prepared(
            LoadSequence(bench, one.running, self.load, sample, captured.get(sample.contender))
            for one, sample in zip(self.started, samples, strict=False)
        )
        captured |= {one.sample.contender: one.captured for one in sequences if one.captured is not None}
        self.lanes = [*(one.sample for one in sequences), samples[-1]]
        bench.watcher.step(f"loading in turns: {self.name}")
        with loaded_together(bench, self.load, sequences) as null:
            parts = {one.sample.contender: one.turns(after_s) for one in sequences}
            parts[TARE] = null.turns(self.load, bench.seed + self.round_number)
            with bench.take_turns(parts, self.load.timeout_s) as session:
                warm_ups = self._warm_up(session)
                self._check_contract(session, sequences)
                slice_s = self._slice_lengths()
                self._without_rest(session, slice_s)
                for index, sample in enumerate(self.lanes):
                    own: list[Slice] = [*self._turns(index)]
                    slices = SlicesEvidence(
                        order=[*parts], slice_s=slice_s[index], warm_up=warm_ups.get(index), slices=own
                    )
                    sample.evidence = LoadEvidence(slices=slices)
                self._laps(session, slice_s)
                result = session.finish(after_s)
        self._keep(result, [one.running.unwatched for one in sequences])
        for index, why in session.unreached.items():
            self.lanes[index].failure = failed(TouchstoneError(why), [])
        for one in sequences:
            sample = one.sample
            for state in sample.dependencies:
                # Over the whole session its CPU went to all contenders; the engine counts it turn by turn.
                state.cpu_s = None
                state.ceiling = self.over_rounds.ceilings.get((self.name, state.name))
            if sample.failure is not None:
                continue
            # Its own dependency may be gone; that is nothing to the others.
            with failing_alone(sample):
                one.settle(sample.result, last=self.last, look=self.round_number == 1)

    @property
    def _null(self) -> int:
        """The null server's place in the job."""
        return len(self.lanes) - 1

    @property
    def _twin(self) -> int | None:
        """The twin's place in the job; None where it takes no part."""
        names = [sample.contender for sample in self.lanes]
        return names.index(self.bench.twin) if self.bench.twin in names else None

    def _warm_up(self, session: SlicesSession) -> dict[int, WarmUp]:
        """Run laps until no contender gets faster or the time is up."""
        profile = self.bench.profile
        least_s = profile.warm_least_of(self.load)
        budget = WarmUpBudget(least_s, max(least_s, profile.warm_most_s))
        names = {index: sample.contender for index, sample in enumerate(self.lanes[:-1])}
        first = self.known.first_warm_up
        records, accounts = warm_up(
            session,
            names,
            {index: budget.after(first[name]) if name in first else budget for index, name in names.items()},
            profile.slice_s,
            lambda text: self.bench.watcher.step(f"warming up for {self.name}: {text}"),
            null=self._null,
        )
        self.records += records
        for index, account in accounts.items():
            first.setdefault(names[index], account)
        return accounts

    def _check_contract(self, session: SlicesSession, sequences: Sequence[LoadSequence]) -> None:
        """Check the contract during the load, in the first round."""
        if self.round_number != 1:
            return
        for index, sequence in enumerate(sequences):
            if index not in (*session.fatal, self._twin) and not fell_silent(self._turns(index)):
                self.bench.watcher.step(f"{self.name}: checking {sequence.sample.contender} while it is loaded")
                with failing_alone(sequence.sample):
                    self.records += check_contract_in_load(session, index, sequence)

    def _without_rest(self, session: SlicesSession, slice_s: Mapping[int, float]) -> None:
        """Load each contender and the null server without a pause, after the first rounds' warm-up."""
        if self.name in self.over_rounds.keep_their_rate or self.round_number > _UNBROKEN_ROUNDS:
            return
        self.bench.watcher.step(f"{self.name}: without a rest")
        before = {index: self._turns(index) for index in slice_s if index != self._twin}
        answering = {
            index: length for index, length in slice_s.items() if index in before and not fell_silent(before[index])
        }
        self.records += load_without_rest(session, answering, self.bench.profile.unbroken_of(self.load), before)

    def _slice_lengths(self) -> dict[int, float]:
        """Return slice lengths by contender.

        In a closed loop they fit complete generations. Raises TouchstoneError.
        """
        usual = self.bench.profile.slice_of(self.load)
        if self.load.loop != "closed":
            # The null server's percentiles are asked for by rules alone.
            return {**dict.fromkeys(range(len(self.lanes)), usual), self._null: self.bench.profile.slice_s}
        rates = {record.contender: part_rate(record) for record in self.records}
        places = self.load.connections * self.load.pipeline * self.load.streams
        lengths = slice_lengths(places, rates, usual)
        slowest = min(rates, key=lambda index: rates[index], default=None)
        if self.bench.profile.slice_is_fixed and slowest is not None and lengths[slowest] > usual:
            raise TouchstoneError(
                f"slices of {usual:g} s are too short: {self.lanes[slowest].contender} responds {rates[slowest]:.3g} "
                f"times a second on {places} connections, which takes {lengths[slowest]:.2g} s for whole generations",
                where=f"load {self.name}",
                fix=f"give --slice {lengths[slowest]:.2g} or more, or leave it out",
            )
        return lengths

    def _laps(self, session: SlicesSession, slice_s: Mapping[int, float]) -> None:
        laps = self.bench.laps or self.bench.profile.laps_of(self.load)
        dice = random.Random(f"{self.bench.seed}-{self.name}-{self.round_number}")
        orders = balanced_laps(len(self.lanes), laps, dice)
        twin_s = dice.sample(range(laps), twin_laps(laps))
        known = ""
        for lap, order in enumerate(orders):
            self.bench.watcher.step(f"{self.name}: lap {lap + 1} of {laps}{known}")
            due = [index for index in order if index != self._twin or lap in twin_s]
            turns = [index for index in due if not fell_silent(self._lapped(index))]
            for record in session.turns("load", [Turn(index, slice_s[index]) for index in turns]):
                record.lap = lap
                self.records.append(record)
                if (evidence := self.lanes[record.contender].slices) is not None:
                    evidence.slices.append(record)
            if self.bench.lap_watcher is not None:
                known = self.bench.lap_watcher.after_lap(self.lanes)

    def _lapped(self, index: int) -> list[TurnRecord]:
        """Return the contender's measured slices so far."""
        return [record for record in self._turns(index) if record.lap is not None]

    def _turns(self, index: int) -> list[TurnRecord]:
        """Return all slices of a contender so far."""
        return [record for record in self.records if record.contender == index]

    def _keep(self, result: SlicesResult, unwatched: Sequence[str | None]) -> None:
        """Store the engine's results and the figures in the samples."""
        for sample, found, why in zip(self.lanes, result.contenders, [*unwatched, None], strict=True):
            assert isinstance(sample.evidence, LoadEvidence)  # it was begun with the laps
            assert sample.evidence.slices is not None
            own = sample.evidence.slices.slices
            sample.evidence.result = _with_machine(found, own)
            keep_figures(sample, sliced_figures(found, own, why))
        kept = [one for sample in self.lanes if sample.slices and (one := sample.slices.kept) is not None]
        if kept and min(kept) >= KEPT:
            self.over_rounds.keep_their_rate.add(self.name)


def _with_machine(result: LoadResult, slices: Sequence[Slice]) -> LoadResult:
    """Return the result with the other processes that used CPU in the contender's measured slices."""
    measured = [one for one in slices if one.lap_phase == "load"]
    stolen, others = _sum(s.steal_s for s in measured), _sum(s.other_cpu_s for s in measured)
    dependencies: dict[str, float] = {}
    for one in measured:
        for name, used in (one.dependencies_cpu_s or {}).items():
            dependencies[name] = dependencies.get(name, 0.0) + used
    result.job = {}
    result.machine = Machine(
        steal_s=stolen,
        other_cpu_s=others,
        other_processes=_busiest(other for one in measured for other in one.other_processes),
        dependencies_cpu_s=dependencies or None,
    )
    return result


def _busiest(others: Iterable[OtherProcess]) -> list[OtherProcess]:
    """The processes that used most over all slices."""
    used: dict[tuple[int, str], float] = {}
    for one in others:
        used[one.pid, one.name] = used.get((one.pid, one.name), 0.0) + one.cpu_s
    most = sorted(used.items(), key=lambda entry: -entry[1])[:_BUSIEST]
    return [OtherProcess(pid=pid, name=name, cpu_s=cpu_s) for (pid, name), cpu_s in most]


def _sum(values: Iterator[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
