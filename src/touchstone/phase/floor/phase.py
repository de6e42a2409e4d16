"""The floor phase: the smallest memory limit under which a contender lives, and under which it keeps its rate.

The limit is the cgroup's: anonymous memory, the kernel's own for the process, and file pages that the process is the
first to read. Those of its program are in the page cache from the trial before and are charged to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import ClassVar

from touchstone.bench.base import Bench, sampling
from touchstone.engine.job import Timing
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.objective import parse_objective
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stack import MemorySetting
from touchstone.phase.base import Phase
from touchstone.phase.capacity.trial import seconds_for
from touchstone.phase.floor.search import FloorSearch, Trial, curve_limits, smallest
from touchstone.phase.floor.trial import PLAIN, FloorBench, TrialOutcome
from touchstone.phase.load.reach import out_of_reach, unmeasured
from touchstone.record.evidence.floor import FloorEvidence
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES, PhaseKind

_MB = 2**20
_UNLIMITED = 3
"""Number of loads without a limit whose median is the unlimited rate."""
_CLEAR = 1.1
_HOPELESS = 0.6
"""A rate between these shares of the wanted one is measured again, twice, each time right after one without a limit,
and the median of the three ratios decides: a bisection never comes back to a wrong step, and pairs that lie close
together in time cancel what else the machine does."""
_SPARE = 1.1
"""The first limit tried, over what the contender took without one."""


class FloorPhase(Phase):
    """Searches to one megabyte, over every heap setting."""

    kind: ClassVar[PhaseKind] = PHASES["floor"]

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says under which load."""
        return scenario.floor is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample with every trial as its evidence."""
        assert bench.scenario.floor is not None  # `applies` has seen to it
        name = bench.scenario.floor.load
        if why := out_of_reach(contender, bench.scenario.loads[name]):
            return [unmeasured(bench, contender, name, None, why, phase="floor")]
        with sampling(bench, "floor", contender.name, load=name) as sample:
            _Search(bench, contender, sample).run()
        return [sample]


class _Search:
    """One contender's search."""

    def __init__(self, bench: Bench, contender: Contender, sample: Sample) -> None:
        assert bench.scenario.floor is not None  # the phase has seen to it
        self._bench = bench
        self._name = contender.name
        self._sample = sample
        self._floor = bench.scenario.floor
        settings: Sequence[MemorySetting] = contender.variant.memory_settings or [PLAIN]
        self._settings = {setting.title: setting for setting in settings}
        load = bench.scenario.loads[self._floor.load]
        timing = Timing(bench.profile.warmup_s, bench.profile.measured_s, 0.0)
        objective = parse_objective(self._floor.objective) if self._floor.objective else None
        if objective is not None and load.rate is not None:
            # An open loop says beforehand how long its percentiles take.
            timing = Timing(bench.profile.warmup_s, seconds_for(objective, load.rate, bench.profile.measured_s), 0.0)
        self._trials = FloorBench(bench, contender, sample, load, timing, objective)
        self._unlimited_rate = 1.0
        self._wanted = 0.0

    def run(self) -> None:
        """Measure without a limit, then search for passing and for living, then fill the curve between."""
        before = [self._unlimited() for _ in range(_UNLIMITED)]
        rate = median(outcome.rate or 0.0 for outcome in before)
        self._unlimited_rate = rate
        self._wanted = rate * self._floor.share_of_unlimited
        low, high = self._floor.from_mb, self._floor.to_mb
        search = FloorSearch(list(self._settings), low, high, self._limited)
        peak = _peak(before) or 0
        passes = search.passes(max(low, int(peak / _MB * _SPARE)))
        contract: dict[str, str] = {}
        if passes is not None:
            passes = self._keeping_contract(search, *passes, contract)
        if passes is not None:
            for limit in curve_limits(passes[0], high, [t.limit_mb for t in search.trials if t.setting == passes[1]]):
                search.at(limit, passes[1])
        lives = search.lives(passes[0] if passes else None)
        # The search for living tries limits below: one that passes there after all is the floor.
        below = [t for t in search.trials if t.passes and (passes is None or t.limit_mb < passes[0])]
        if below:
            passes = self._keeping_contract(search, below[0].limit_mb, below[0].setting, contract) or passes
        # The sample stands for its limits: how it was run last under one is what the record says.
        sample = self._sample
        limited = (sample.process.argv, sample.process.env, sample.process.placement)
        after = self._unlimited().rate or 0.0
        sample.process.argv, sample.process.env, sample.process.placement = limited
        for name, found in (("floor_passes", passes), ("floor_lives", lives)):
            if found is None:
                self._sample.not_measured[name] = f"not even {high} MB were enough"
            else:
                self._sample.figures[name] = float(found[0] * _MB)
        sample.evidence = FloorEvidence(
            unlimited_rate=rate,
            unlimited_rates=[*(outcome.rate for outcome in before), after],
            unlimited_peak=peak,
            share=self._floor.share_of_unlimited,
            wanted_rate=self._wanted,
            passes_with=passes[1] if passes else None,
            lives_with=lives[1] if lives else None,
            contract=contract,
            tries=[trial.record() for trial in search.trials],
        )
        sample.process.oom_kills = None
        self._sample.process.server_exit = None

    def _keeping_contract(
        self, search: FloorSearch, least: int, setting: str, failures: dict[str, str]
    ) -> tuple[int, str] | None:
        """The smallest limit from `least` on under which the whole contract holds as well."""

        def holds(limit: int) -> bool:
            self._step(f"checking the contract at {limit} MB, {setting}")
            broken = self._trials.contract_under(limit, self._settings[setting])
            failures[f"{limit} MB"] = broken or "holds"
            return broken is None and search.at(limit, setting).passes

        found = smallest(least, self._floor.to_mb, holds, least)
        return None if found is None else (found, setting)

    def _unlimited(self) -> TrialOutcome:
        self._step("without a limit")
        outcome = self._trials.load_under(None, PLAIN)
        if outcome.rate is None or (outcome.errors and self._floor.objective is None):
            why = outcome.death or f"{outcome.errors} requests failed"
            raise TouchstoneError(f"without a limit the load fails: {why}", where=self._name)
        return outcome

    def _limited(self, limit_mb: int, setting: str) -> Trial:
        self._step(f"at {limit_mb} MB, {setting}")
        outcomes = [self._trials.load_under(limit_mb, self._settings[setting])]
        first = outcomes[0].rate or 0.0
        shares = [first / self._unlimited_rate]
        if self._floor.objective is not None:
            return self._within_objective(limit_mb, setting, outcomes[0])
        if not outcomes[0].errors and _HOPELESS < first / self._wanted < _CLEAR:
            for _ in range(2):
                unlimited = self._unlimited().rate or 0.0
                outcomes.append(self._trials.load_under(limit_mb, self._settings[setting]))
                shares.append((outcomes[-1].rate or 0.0) / max(unlimited, 1.0))
        if dead := next((outcome for outcome in outcomes if not outcome.lives), None):
            return Trial(limit_mb, setting, False, False, death=dead.death)
        rate = median(outcome.rate or 0.0 for outcome in outcomes)
        p99 = median(outcome.p99 or 0.0 for outcome in outcomes)
        sound = not any(outcome.errors for outcome in outcomes)
        passes = sound and median(shares) >= self._floor.share_of_unlimited
        return Trial(limit_mb, setting, True, passes, rate, p99, share=median(shares), peak=_peak(outcomes))

    def _within_objective(self, limit_mb: int, setting: str, first: TrialOutcome) -> Trial:
        """Whether a limit meets the objective in two of three loads at the same rate."""
        outcomes = [first]
        held = [self._holds(first)]
        while first.lives and len(held) < 3 and max(held.count(True), held.count(False)) < 2:
            outcomes.append(self._trials.load_under(limit_mb, self._settings[setting]))
            held.append(self._holds(outcomes[-1]))
        if dead := next((outcome for outcome in outcomes if not outcome.lives), None):
            return Trial(limit_mb, setting, False, False, death=dead.death)
        rate = median(outcome.rate or 0.0 for outcome in outcomes)
        p99 = median(outcome.p99 or 0.0 for outcome in outcomes)
        share = rate / self._unlimited_rate
        return Trial(limit_mb, setting, True, held.count(True) >= 2, rate, p99, share=share, peak=_peak(outcomes))

    def _holds(self, outcome: TrialOutcome) -> bool:
        return outcome.lives and not outcome.broken and (outcome.rate or 0.0) >= self._wanted

    def _step(self, text: str) -> None:
        self._bench.watcher.step(f"floor of {self._name} {text}")


def _peak(outcomes: Sequence[TrialOutcome]) -> int | None:
    return max((outcome.peak for outcome in outcomes if outcome.peak is not None), default=None)
