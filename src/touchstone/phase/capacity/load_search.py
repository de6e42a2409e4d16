"""The search of one load's capacity on all contenders of a round: warmed up together, then trial by trial in turn.

A trial of each follows a trial of each other, so that an hour in which the machine is slow falls on all alike, and the
ratio of two capacities of one round is a pair as that of two slices is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from touchstone.bench.base import Bench, attempt_together, blank_sample, failed, failing_alone
from touchstone.bench.together import StartedTogether
from touchstone.contract.values import ValueSource, fresh_of
from touchstone.failure import TouchstoneError
from touchstone.manifest.load import Load
from touchstone.manifest.objective import Objective
from touchstone.phase.capacity.burst import FACTORS, burst_absences, burst_figures
from touchstone.phase.capacity.contender_search import ContenderSearch, SearchBudget, TrialTarget
from touchstone.phase.capacity.curve import missing_rates
from touchstone.phase.capacity.efficiency import efficiency_figures, measure_efficiency
from touchstone.phase.capacity.session import open_session, take_account
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.slices import part_rate
from touchstone.record.process import Process
from touchstone.record.sample import TARE, Sample
from touchstone.traffic.null_server import EngineServer, null_load
from touchstone.traffic.sequence import LoadSequence, loaded_together, prepared
from touchstone.traffic.warm_up import warm_up
from touchstone.traffic.warming import WarmUpBudget

_TARE_PACE = SearchBudget(0.5, 9, 0.15)
"""The null server's capacity need not be known to a percent, and each of its trials takes the whole machine."""
_AGAIN = WarmUpBudget(1.0, 6.0, least_requests=0)
"""Warm-up budget after a restart."""
_GENTLY = 8
"""Divide connections by this after a restart: what the old process died of may be that they all asked at once."""


@dataclass
class LoadSearch:
    """One load of one round."""

    bench: Bench
    name: str
    load: Load
    objective: Objective
    round_number: int
    started: list[StartedTogether]
    restart: Callable[[StartedTogether], None]
    """Gives a contender that has died a new process."""
    alone: bool = False
    """True if other contenders are searched apart from these: they have no rate in common."""
    sequences: list[LoadSequence] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    """Contenders that could be prepared, in their order, then the tare: as `seats`."""
    seats: list[ContenderSearch] = field(default_factory=list)

    def measure(self) -> list[Sample]:
        """The samples of all contenders, and the tare's. What goes wrong becomes their failure."""
        samples = [self._blank(one.contender.name, one.process) for one in self.started]
        self.sequences = prepared(
            LoadSequence(self.bench, one.running, self.load, sample)
            for one, sample in zip(self.started, samples, strict=True)
        )
        unprepared = [sample for sample in samples if sample.failure is not None]
        self.samples = [*(one.sample for one in self.sequences), self._blank(TARE)]
        attempt_together(self.samples, self._measure)
        return self.samples + unprepared

    def _blank(self, contender: str, process: Process | None = None) -> Sample:
        number = self.round_number
        return blank_sample(self.bench, "capacity", contender, load=self.name, round_number=number, process=process)

    def _measure(self) -> None:
        with loaded_together(self.bench, self.load, self.sequences) as null:
            self._seat(null)
            self._search()
            self._fill_curves()
            running = [seat for seat in self.seats[:-1] if not seat.gone]
            at_rates = {} if self.alone else measure_efficiency(self.bench, self.load, running, self.round_number)
            # Last: what a burst leaves behind would show in all that came after it.
            self._offer_bursts()
        tare = self.seats[-1].capacity
        for seat, sample in zip(self.seats, self.samples, strict=True):
            self._keep(seat, sample, tare if sample.contender != TARE else None)
            if sample.capacity is not None and (points := at_rates.get(seat.name)):
                sample.capacity.at_rates = points
                sample.figures |= efficiency_figures(points)
        for one, seat in zip(self.sequences, self.seats, strict=False):
            if not seat.gone:
                # Its own dependency may be gone; that is nothing to the others.
                with failing_alone(one.sample):
                    one.settle(None if seat.deaths else LoadResult(totals=seat.totals), last=False)

    def _seat(self, null: EngineServer) -> None:
        """Warm all up by their closed loop, and give each its search."""
        profile, placement = self.bench.profile, self.bench.placement
        pace = SearchBudget(profile.trial_s, profile.trials, profile.capacity_width)
        targets = [self._target(one) for one in self.sequences]
        for sample, target in zip(self.samples, [*targets, None], strict=True):
            self.seats.append(
                ContenderSearch(
                    name=sample.contender,
                    target=target or TrialTarget(null.url, null.watch, lanes=1),
                    load=self.load if target else null_load(self.load),
                    objective=self.objective,
                    pace=pace if target else _TARE_PACE,
                    cpus=list(placement.engine_cpus),
                    seed=self.bench.seed + 1_000 * self.round_number,
                    fresh=fresh_of(self.bench.seed),
                    put_load=self.bench.put_load,
                )
            )
        budget = WarmUpBudget(profile.warm_least_s, profile.warm_most_s)
        unreached = self._warm_up(self.seats, budget, self.load.connections)
        for place, seat in enumerate(self.seats):
            if how := seat.target.died():
                seat.deaths, seat.death = 1, how
                self._revive(seat)
            elif why := unreached.get(place):
                self._lose(seat, TouchstoneError(why))

    def _warm_up(self, seats: Sequence[ContenderSearch], budget: WarmUpBudget, connections: int) -> dict[int, str]:
        """Load these in turn at full speed until steady. Then open their searches.

        Returns the places of those to which nothing could be sent, and why.
        """
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
            rates = [part_rate(record) for record in records if record.contender == place]
            if not seat.trials:
                seat.begin(max(rates, default=0.0))
        take_account(seats, result)
        return session.unreached

    def _search(self) -> None:
        """Run one trial of each in turn, in random order, until all knees are found."""
        dice = random.Random(f"{self.bench.seed}-capacity-{self.name}-{self.round_number}")
        while open_ := [seat for seat in self.seats if seat.ended is None and not seat.gone]:
            dice.shuffle(open_)
            for seat in open_:
                known = seat.known
                self.bench.watcher.step(
                    f"capacity of {seat.name}, {self.name}: {known.low:,.0f} to {known.high:,.0f}/s "
                    f"after {len(seat.trials)} trials"
                )
                self._try(seat, seat.step)

    def _fill_curves(self) -> None:
        """Run trials at curve rates that the search missed, in turn, the lowest first."""
        wanted = {seat.name: missing_rates(seat) for seat in self.seats if seat.name != TARE and not seat.gone}
        while any(wanted.values()):
            for seat in self.seats:
                if rates := wanted.get(seat.name):
                    self.bench.watcher.step(f"curve of {seat.name}, {self.name}: {rates[0]:,.0f}/s")
                    self._try(seat, partial(seat.offer, rates.pop(0), "curve", self.bench.profile.trial_s))
                    if seat.gone:
                        rates.clear()

    def _offer_bursts(self) -> None:
        """A burst for each whose capacity is known, where the scenario states a deadline."""
        assert self.bench.scenario.capacity is not None  # the phase applies to no other
        deadline_ms = self.bench.scenario.capacity.deadline_ms
        if deadline_ms is None:
            return
        for seat in self.seats:
            if seat.name != TARE and not seat.gone and seat.ended in {"found", "trials"} and seat.capacity is not None:
                self.bench.watcher.step(f"burst of {seat.name}, {self.name}: up to {FACTORS[-1]:g} times its capacity")
                self._try(seat, partial(seat.offer_burst, deadline_ms / 1e3, self.bench.profile.trial_s))
                self._search_smallest_burst(seat, deadline_ms / 1e3)

    def _search_smallest_burst(self, seat: ContenderSearch, deadline_s: float) -> None:
        """Search it for a service that has not returned, where the scenario asks for it."""
        assert self.bench.scenario.capacity is not None  # the phase applies to no other
        burst = seat.burst
        if not self.bench.scenario.capacity.smallest_burst or seat.gone or burst is None or burst.void or burst.died:
            return
        if burst.recovery_s is not None:
            return
        self.bench.watcher.step(f"smallest burst that {seat.name} does not return from, {self.name}")
        self._try(seat, partial(seat.search_smallest_burst, deadline_s, self.bench.profile.trial_s))

    def _try(self, seat: ContenderSearch, trial: Callable[[], object]) -> None:
        """Carry out a trial. A contender that died in it gets a new process, and an error is nothing to the others."""
        try:
            trial()
        except TouchstoneError as error:
            self._lose(seat, error)
        else:
            self._revive(seat)

    def _lose(self, seat: ContenderSearch, error: TouchstoneError, lines: Sequence[str] = ()) -> None:
        """Offer it no further trial. What its search has found stays; a search that has not ended fails."""
        seat.gone = True
        if seat.ended is None:
            self.samples[self.seats.index(seat)].failure = failed(error, [*lines])

    def _revive(self, seat: ContenderSearch) -> None:
        """Give a contender that died a new process, prepared and warm. It is lost if that one fails."""
        if (how := seat.target.died()) is None:
            return
        place = self.seats.index(seat)
        one = next(one for one in self.started if one.contender.name == seat.name)
        where = f"at {seat.dies_at:,.0f} requests per second" if seat.dies_at else "under its closed loop"
        follows = "going on below"
        if seat.burst is not None:
            where, follows = "in the burst", "a new process takes its place"
        self.bench.watcher.say(f"  {seat.name} {how} {where}; {follows}")
        try:
            self.restart(one)
            self.samples[place].process = one.process
            fresh = LoadSequence(self.bench, one.running, self.load, self.samples[place]).prepare()
            self.sequences[place] = fresh
            seat.target = self._target(fresh)
            if why := self._warm_up([seat], _AGAIN, max(1, self.load.connections // _GENTLY)).get(0):
                raise TouchstoneError(why)
        except TouchstoneError as error:
            what = f"the server {how} {where}, and the process in its place failed: {error.what}"
            self.bench.watcher.say(f"  {seat.name}: {what}")
            lost = TouchstoneError(what, where=error.where, fix=error.fix)
            self._lose(seat, lost, self.bench.log_tail(one.process))

    def _target(self, one: LoadSequence) -> TrialTarget:
        contender, service = one.running, one.running.service
        watched = contender.watch(after_s=0.0)
        assert watched is not None  # the phase is for contenders that touchstone starts
        ready, values = self.bench.scenario.ready, ValueSource(self.bench.seed)
        limit = self.load.cpus or self.bench.options.cpu_limit
        return TrialTarget(
            url=one.url,
            watch=watched,
            lanes=limit or max(1, len(self.bench.placement.server_cpus)),
            prepared=one.captured or {},
            died=contender.exited,
            answers=lambda: service.exchange(ready, values.next()).status is not None,
        )

    def _keep(self, seat: ContenderSearch, sample: Sample, tare: float | None) -> None:
        if sample.failure is not None:
            return
        sample.evidence = evidence = seat.evidence(tare)
        if seat.capacity is None:
            sample.not_measured["capacity"] = (
                f"the objective ({evidence.objective}) was not met at any rate that was tried, from "
                f"{min(trial.rate for trial in seat.trials):,.0f} requests per second on"
            )
        else:
            sample.figures["capacity"] = seat.capacity
            if seat.streams is not None:
                sample.figures["streams_sustained"] = seat.streams
            if evidence.burst is not None:
                sample.figures |= burst_figures(evidence.burst)
                sample.not_measured |= burst_absences(evidence.burst)
