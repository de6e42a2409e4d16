"""The search of one load's capacity on all contenders of a round: warmed up together, then trial by trial in turn.

A trial of each follows a trial of each other, so that an hour in which the machine is slow falls on all alike, and the
ratio of two capacities of one round is a pair as that of two slices is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from touchstone.bench.base import Bench, attempt_together, blank_sample, failed
from touchstone.bench.dependency_watch import DependencyWatch
from touchstone.bench.machine_watch import MachineWatch
from touchstone.bench.tare import EngineServer
from touchstone.bench.together import Started
from touchstone.contract.checker import Checker, light_checks
from touchstone.contract.values import ValueSource, fresh_of
from touchstone.failure import TouchstoneError
from touchstone.isolation.process import tail
from touchstone.manifest.load import Load
from touchstone.manifest.objective import Objective
from touchstone.phase.capacity.curve import missing_rates
from touchstone.phase.capacity.efficiency import efficiency_figures, measure_efficiency
from touchstone.phase.capacity.seat import Pace, Seat, Target
from touchstone.phase.capacity.session import open_session, take_account
from touchstone.phase.load.prepare import prepare_load, prove_load, work_before
from touchstone.phase.load.tare import null_load, null_server
from touchstone.phase.load.warm_up import warm_up
from touchstone.phase.load.warming import Budget, turn_rate
from touchstone.record.engine import LoadResult
from touchstone.record.sample import TARE, Sample

_TARE_PACE = Pace(0.5, 9, 0.15)
"""The null server's capacity need not be known to a percent, and each of its trials takes the whole machine."""
_AGAIN = Budget(1.0, 6.0, least_requests=0)
"""Warm-up budget after a restart."""
_GENTLY = 8
"""Divide connections by this after a restart: what the old process died of may be that they all asked at once."""


@dataclass
class Hunt:
    """One load of one round."""

    bench: Bench
    name: str
    load: Load
    objective: Objective
    round_number: int
    started: list[Started]
    restart: Callable[[Started], None]
    """Gives a contender that has died a new process."""
    alone: bool = False
    """True if other contenders are searched apart from these: they have no rate in common."""
    samples: list[Sample] = field(default_factory=list)
    seats: list[Seat] = field(default_factory=list)

    def measure(self) -> list[Sample]:
        """The samples: contenders in their order, then the tare. What goes wrong becomes their failure."""
        unprepared = self._prepare()
        self.samples = [self._blank(one.contender.name) for one in self.started] + [self._blank(TARE)]
        attempt_together(self.samples, self._measure)
        return self.samples + unprepared

    def _prepare(self) -> list[Sample]:
        """Send what goes before the load; the samples of those that did not answer it as they must."""
        fallen = []
        for one in list(self.started):
            try:
                if self.load.prepare and one.prepared is None:
                    one.prepared = prepare_load(self._checker(one), self.load, self.bench.seed)
            except TouchstoneError as error:
                fallen.append(self._blank(one.contender.name))
                fallen[-1].failure = failed(error, [])
                self.started.remove(one)
        return fallen

    def _checker(self, one: Started) -> Checker:
        return Checker(one.running.service, one.bench.dependencies, self.bench.seed)

    def _blank(self, contender: str) -> Sample:
        return blank_sample(
            self.bench, "capacity", contender, load=self.name, under=self.load, round_number=self.round_number
        )

    def _measure(self) -> None:
        bench = self.bench
        before = [work_before(self.load, one.bench.dependencies, bench.seed) for one in self.started]
        machines = [MachineWatch(one.running.cgroup) for one in self.started]
        with ExitStack() as stack:
            watches = [
                stack.enter_context(DependencyWatch(one.bench.dependencies, one.running.leftovers))
                for one in self.started
            ]
            null = stack.enter_context(null_server(bench, self.load))
            self._seat(null)
            self._search()
            self._fill_curves()
            running = [seat for seat in self.seats[:-1] if not seat.gone]
            at_rates = {} if self.alone else measure_efficiency(bench, self.load, running, self.round_number)
        tare = self.seats[-1].capacity
        for seat, sample in zip(self.seats, self.samples, strict=True):
            self._keep(seat, sample, tare if sample.contender != TARE else None)
            if sample.capacity is not None and (points := at_rates.get(seat.name)):
                sample.capacity.at_rates = points
                sample.figures |= efficiency_figures(points)
        for index, one in enumerate(self.started):
            sample = self.samples[index]
            sample.machine, sample.dependencies = machines[index].end(), watches[index].states
            if not self.seats[index].gone:
                self._look_after(one, self.seats[index], sample, before[index])

    def _look_after(self, one: Started, seat: Seat, sample: Sample, before: Sequence[float]) -> None:
        """Ask for the proof of its work, and whether it still holds its contract."""
        try:
            if not seat.deaths:
                whole = LoadResult(totals=seat.totals)
                sample.proofs = prove_load(self.load, one.bench.dependencies, whole, self.bench.seed, before)
            sample.checks = self._checker(one).run(light_checks(self.bench.scenario.contract))
        except TouchstoneError as error:
            # Its own dependency may be gone; that is nothing to the others.
            sample.failure = failed(error, [])

    def _seat(self, null: EngineServer) -> None:
        """Warm all up by their closed loop, and give each its search."""
        profile, placement = self.bench.profile, self.bench.placement
        pace = Pace(profile.trial_s, profile.trials, profile.capacity_width)
        names = [sample.contender for sample in self.samples]
        for number, name in enumerate(names):
            own = number < len(self.started)
            self.seats.append(
                Seat(
                    name=name,
                    target=self._target(self.started[number]) if own else Target(null.url, null.watch, lanes=1),
                    load=self.load if own else null_load(self.load),
                    objective=self.objective,
                    pace=pace if own else _TARE_PACE,
                    cpus=list(placement.engine_cpus),
                    seed=self.bench.seed + 1_000 * self.round_number,
                    fresh=fresh_of(self.bench.seed),
                    put_load=self.bench.put_load,
                )
            )
        self._warm_up(self.seats, Budget(profile.warm_least_s, profile.warm_most_s), self.load.connections)
        for seat in self.seats:
            if how := seat.target.died():
                seat.deaths, seat.death = 1, how
                self._revive(seat)

    def _warm_up(self, seats: Sequence[Seat], budget: Budget, connections: int) -> None:
        """Load these in turn as fast as they answer, until none gets faster; then open their searches."""
        closed = self.load.model_copy(
            update={"loop": "closed", "rate": None, "steps": None, "connections": connections}
        )
        with open_session(self.bench, closed, seats) as session:
            names = {place: seat.name for place, seat in enumerate(seats) if seat.name != TARE}
            records, _ = warm_up(
                session,
                names,
                dict.fromkeys(names, budget),
                self.bench.profile.slice_s,
                lambda text: self.bench.watcher.step(f"warming up for the capacity of {self.name}: {text}"),
                null=next((place for place, seat in enumerate(seats) if seat.name == TARE), None),
            )
            result = session.finish(0.0)
        for place, seat in enumerate(seats):
            rates = [turn_rate(record) for record in records if record.contender == place]
            if not seat.trials:
                seat.begin(max(rates, default=0.0))
        take_account(seats, result)

    def _search(self) -> None:
        """A trial of each in turn, in an order drawn anew for each turn, until all have found their knee."""
        dice = random.Random(f"{self.bench.seed}-capacity-{self.name}-{self.round_number}")
        while open_ := [seat for seat in self.seats if seat.ended is None and not seat.gone]:
            dice.shuffle(open_)
            for seat in open_:
                known = seat.known
                self.bench.watcher.step(
                    f"capacity of {seat.name}, {self.name}: {known.low:,.0f} to {known.high:,.0f}/s "
                    f"after {len(seat.trials)} trials"
                )
                seat.step()
                self._revive(seat)

    def _fill_curves(self) -> None:
        """Trials at the rates of the curve that the search did not come by, in turn, the lowest first."""
        wanted = {seat.name: missing_rates(seat) for seat in self.seats if seat.name != TARE and not seat.gone}
        while any(wanted.values()):
            for seat in self.seats:
                if rates := wanted.get(seat.name):
                    self.bench.watcher.step(f"curve of {seat.name}, {self.name}: {rates[0]:,.0f}/s")
                    seat.offer(rates.pop(0), "curve", self.bench.profile.trial_s)
                    self._revive(seat)
                    if seat.gone:
                        rates.clear()

    def _revive(self, seat: Seat) -> None:
        """A contender that died gets a new process, prepared and warm; nothing otherwise.

        One whose new process fails is gone. What its search has found stands; a search that has not ended fails.
        """
        if seat.name == TARE or not seat.target.died():
            return
        index = self.seats.index(seat)
        one = self.started[index]
        where = f"at {seat.dies_at:,.0f} requests per second" if seat.dies_at else "under its closed loop"
        self.bench.watcher.say(f"  {seat.name} {seat.death} {where}; going on below")
        try:
            self.restart(one)
            one.prepared = prepare_load(self._checker(one), self.load, self.bench.seed)
            seat.target = self._target(one)
            self._warm_up([seat], _AGAIN, max(1, self.load.connections // _GENTLY))
        except TouchstoneError as error:
            seat.gone = True
            what = f"the server {seat.death} {where}, and the process in its place failed: {error.what}"
            self.bench.watcher.say(f"  {seat.name}: {what}")
            if seat.ended is None:
                lost = TouchstoneError(what, where=error.where, fix=error.fix)
                self.samples[index].failure = failed(lost, tail(self.bench.store.logs / f"{one.carrier.id}.log"))

    def _target(self, one: Started) -> Target:
        contender, service = one.running, one.running.service
        watched = contender.watch(after_s=0.0)
        assert watched is not None  # the phase is for contenders that the lab starts
        ready, values = self.bench.scenario.ready, ValueSource(self.bench.seed)
        limit = self.load.cpus or self.bench.cpu_limit
        return Target(
            url=contender.url,
            watch=watched,
            lanes=limit or max(1, len(self.bench.placement.server_cpus)),
            prepared=one.prepared or {},
            died=contender.exited,
            answers=lambda: service.exchange(ready, values.next()).status is not None,
        )

    def _keep(self, seat: Seat, sample: Sample, tare: float | None) -> None:
        if sample.failure is not None:
            return
        sample.capacity = seat.evidence(tare)
        if seat.capacity is None:
            sample.not_measured["capacity"] = (
                f"the objective ({sample.capacity.objective}) was not met at any rate that was tried, from "
                f"{min(trial.rate for trial in seat.trials):,.0f} requests per second on"
            )
        else:
            sample.figures["capacity"] = seat.capacity
