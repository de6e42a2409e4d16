"""One contender in a search: its trials one by one, and what they say of its knee."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from touchstone.engine.job import Timing, load_job, next_counter
from touchstone.engine.protocol import LoadJob, Step, Watch
from touchstone.manifest.load import Load
from touchstone.manifest.objective import Objective
from touchstone.phase.capacity.burst import (
    BURST_INTERVAL_S,
    FACTORS,
    burst_load,
    read_burst,
    single_burst,
    window_after,
)
from touchstone.phase.capacity.disturbance import TrialDisturbance
from touchstone.phase.capacity.search import KneeEstimate, KneeSearch
from touchstone.phase.capacity.smallest_burst import smallest_burst
from touchstone.phase.capacity.trial import LEAD_S, POINTS, lowest_rate, open_loop, read_trial, seconds_for
from touchstone.plan.placement import available_cpus
from touchstone.record.engine import LoadResult, Totals
from touchstone.record.evidence.capacity import BurstEvidence, CapacityEvidence, CapacityTrial, Ended

_HEADROOM = 3.0
"""The search reaches this far beyond the rate of a closed loop, which no open one of the same connections exceeds."""
_EDGE = 0.15
"""From an interval of this width on, trials have their full length; before it, a look is enough."""
_LOOK = 0.5
_VOID = 3
"""This number of trials in a row that the generator spoilt makes their rate its ceiling."""
_DEATHS = 4
_CERTAIN = 0.9
_IDLE = 2.0
_AGAIN = 2
"""This number of failures at `_IDLE` times the lowest rate or less is enough to give up: those trials take longest."""
_SHORT_OF_DEATH = 0.98
_REST_S = 3.0
_UNLOADED_S = 30.0
"""A service that has not returned from a burst is given at most this time without a load."""


@dataclass(frozen=True)
class TrialTarget:
    """The server that trials load."""

    url: str
    watch: Watch
    """What is sampled next to a trial."""
    lanes: float
    """How many CPUs' time it may use."""
    prepared: Mapping[str, str] = field(default_factory=dict)
    """What the load's preparation has captured of it."""
    died: Callable[[], str | None] = lambda: None
    """How it ended, in words; None if it runs."""
    answers: Callable[[], bool] = lambda: True
    """Whether it answers a single request."""


@dataclass(frozen=True)
class SearchBudget:
    """How much a search may cost, and how narrow its interval is to become."""

    trial_s: float
    trials: int
    width: float


@dataclass
class ContenderSearch:
    """A contender, its search, and its trials so far."""

    name: str
    target: TrialTarget
    load: Load
    objective: Objective
    pace: SearchBudget
    cpus: list[int]
    seed: int
    fresh: str
    """The text of `{fresh}` in all of its requests: that of the load's preparation and proofs."""
    put_load: Callable[[LoadJob], LoadResult]
    """Carries out a load job."""
    counter: int = 0
    """The first counter of the next trial: keys of requests are used once."""
    totals: Totals = field(default_factory=Totals)
    trials: list[CapacityTrial] = field(default_factory=list)
    bursts: TrialDisturbance = field(default_factory=lambda: TrialDisturbance(len(available_cpus())))
    ended: Ended | None = None
    dies_at: float | None = None
    death: str | None = None
    deaths: int = 0
    burst: BurstEvidence | None = None
    gone: bool = False
    """True if no further trial is offered to it: it cannot be loaded, or it died and cannot be started again."""
    lowest: float = field(init=False)
    """The lowest rate of the search, in requests per second."""
    search: KneeSearch = field(init=False)
    _voids: int = 0
    _closed_rate: float = 0.0

    def begin(self, closed_rate: float) -> None:
        """Open the search between the lowest testable rate and one safely above the closed loop's."""
        self._closed_rate = max(closed_rate, self._closed_rate)
        self.lowest = lowest = lowest_rate(self.objective, self._closed_rate)
        self.search = KneeSearch(lowest, max(_HEADROOM * self._closed_rate, 2 * lowest))

    @property
    def known(self) -> KneeEstimate:
        """The knee and its interval."""
        return self.search.known()

    def step(self) -> CapacityTrial:
        """One trial of the search."""
        rate = self.search.next_rate()
        usual = self.pace.trial_s * (_LOOK if self.known.width > _EDGE else 1.0)
        trial = self.offer(rate, "search", usual)
        if self.dies_at is not None and self.target.died():
            self.search.ceiling = min(self.search.ceiling, rate * _SHORT_OF_DEATH)
        if trial.held is not None:
            self._voids = 0
            self.search.learn(rate, held=trial.held)
        elif trial.void == "generator":
            self._voids += 1
            if self._voids >= _VOID:
                self.search.ceiling = min(self.search.ceiling, rate)
                self._voids = 0
        self.ended = self._end()
        return trial

    def offer(self, rate: float, purpose: Literal["search", "curve"], usual_s: float) -> CapacityTrial:
        """Offer a rate for a while."""
        seconds = seconds_for(self.objective, rate, usual_s, self._stream_s)
        result = self._carry_out(open_loop(self.load, rate), seconds, seconds / POINTS)
        trial = read_trial(result, self.objective, rate, self.target.lanes, purpose)
        if death := self.target.died():
            self.deaths += 1
            self.dies_at = min(rate, self.dies_at or rate)
            self.death, trial.held, trial.void, trial.why = death, False, None, f"the server {death}"
        else:
            self.bursts.settle(trial)
            if not trial.held:
                _wait_until(self.target.answers, _REST_S)
        self.trials.append(trial)
        return trial

    @property
    def _stream_s(self) -> float:
        """How long a stream lasts, by Little's law; 0 if responses are no streams."""
        if not self._closed_rate or not any(one.stream for one in self.load.all_requests):
            return 0.0
        return self.load.connections * self.load.streams / self._closed_rate

    @property
    def streams(self) -> int | None:
        """The most streams at once within the objective; None without streams."""
        capacity = self.capacity
        held = [trial for trial in self.trials if trial.held and capacity is not None and trial.rate <= capacity]
        return max((trial.streams for trial in held if trial.streams), default=None)

    def offer_burst(self, deadline_s: float, step_s: float) -> None:
        """Offer a burst beyond the capacity, and a load after it, once the capacity is known."""
        assert self.capacity is not None
        self.burst = self._burst(*burst_load(self.load, self.capacity, deadline_s, step_s))

    def search_smallest_burst(self, deadline_s: float, step_s: float) -> None:
        """Find the smallest burst without recovery, up to the length of the whole one."""
        assert self.capacity is not None and self.burst is not None
        capacity, before = self.capacity, self.burst

        def offer(length_s: float) -> BurstEvidence:
            nonlocal before
            if before.recovery_s is None:
                time.sleep(min(_UNLOADED_S, before.excess_s))
                _wait_until(self.target.answers, _UNLOADED_S)
            before = self._burst(*single_burst(self.load, capacity, deadline_s, step_s, length_s))
            if not before.began_calm:
                before.void = "the service had not worked off the burst before"
            return before

        longest_s = step_s * len(FACTORS)
        self.burst.smallest = smallest_burst(longest_s, window_after(step_s), offer)

    def _burst(self, load: Load, steps: Sequence[Step]) -> BurstEvidence:
        assert self.capacity is not None
        seconds = sum(step["seconds"] for step in steps)
        result = self._carry_out(load, seconds, BURST_INTERVAL_S, steps)
        burst = read_burst(result, load, self.capacity, self.objective, self.target.died())
        if burst.died:
            self.deaths += 1
        else:
            whole = read_trial(result, self.objective, load.rate or self.capacity, self.target.lanes, "curve")
            self.bursts.settle(whole)
            burst.void = whole.why if whole.void else ""
        return burst

    def _carry_out(self, load: Load, seconds: float, interval_s: float, steps: Sequence[Step] = ()) -> LoadResult:
        """Load the contender for a while, by keys that it has not had yet."""
        wanted = load.with_captured(self.target.prepared)
        seed = self.seed + len(self.trials)
        timing = Timing(LEAD_S, seconds, 0.0)
        job = load_job(wanted, self.target.url, timing, cpus=self.cpus, seed=seed, fresh=self.fresh)
        if steps:
            # Clients of a burst give up whether they have a connection or not.
            job["give_up"] = True
            job["loop"] = {"kind": "steps", "steps": [*steps], "arrivals": load.arrivals}
        job["series_interval_s"] = interval_s
        job["first_counter"] = self.counter
        job["watch"] = self.target.watch
        result = self.put_load(job)
        self.counter = next_counter(self.counter, result.totals.sent)
        self.totals = sum_of_totals(self.totals, result.totals)
        return result

    def evidence(self, tare: float | None) -> CapacityEvidence:
        """All that was found."""
        assert self.ended is not None  # the search has come to its end
        known = self.known
        held = self.ended != "nothing holds"
        return CapacityEvidence(
            objective=", ".join(term.text for term in self.objective.terms),
            bounds={term.quantity: term.bound for term in self.objective.terms},
            low=known.low if held else None,
            high=known.high if held and self.ended != "generator" else None,
            ended=self.ended,
            lowest=self.lowest,
            dies_at=self.dies_at,
            death=self.death,
            tare=tare,
            trials=self.trials,
            burst=self.burst,
        )

    @property
    def capacity(self) -> float | None:
        """The highest rate within the objective. If the generator limits, the highest rate seen to hold."""
        if self.ended in {None, "nothing holds"}:
            return None
        if self.ended == "generator":
            return max((trial.rate for trial in self.trials if trial.held), default=None)
        return min(self.known.rate, self.search.ceiling)

    def _end(self) -> Ended | None:
        known, search = self.known, self.search
        if self._fails_when_idle():
            return "nothing holds"
        if len(self.trials) >= self.pace.trials and all(trial.held is None for trial in self.trials):
            return "generator"
        blocked = search.above(min(search.ceiling, search.highest) * 0.99) > _CERTAIN
        if blocked and (self.dies_at is None or search.ceiling > self.dies_at):
            return "generator"
        if known.width <= self.pace.width or blocked:
            return "found"
        if len(self.trials) >= self.pace.trials or self.deaths >= _DEATHS:
            return "trials"
        return None

    def _fails_when_idle(self) -> bool:
        """Whether nothing held, and the rates next to the lowest failed again and again."""
        near = [trial for trial in self.trials if trial.rate <= _IDLE * self.lowest]
        nothing = not any(trial.held for trial in self.trials)
        return nothing and sum(trial.held is False for trial in near) >= _AGAIN


def sum_of_totals(one: Totals, other: Totals) -> Totals:
    """The requests of two jobs."""
    return Totals(sent=one.sent + other.sent, completed=one.completed + other.completed, ok=one.ok + other.ok)


def _wait_until(answers: Callable[[], bool], within_s: float) -> None:
    """Ask again and again until it answers, for `within_s` at most."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and not answers():
        time.sleep(0.05)
