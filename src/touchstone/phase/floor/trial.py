"""One trial of the memory floor: a contender under a limit, checked and loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from touchstone.bench.base import Bench, Built
from touchstone.bench.service import StartedService, running
from touchstone.contract.checker import ContractChecker, light_checks
from touchstone.engine.job import Timing
from touchstone.failure import TouchstoneError
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.contract import Check
from touchstone.manifest.load import Load
from touchstone.manifest.objective import Objective
from touchstone.manifest.stack import MemorySetting
from touchstone.phase.capacity.trial import breach
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample
from touchstone.traffic.sequence import LoadSequence

PLAIN = MemorySetting(title="as it is run")
_THRASHES = 0.5
"""A start under a limit that takes longer than this share of what a start may take is thrashing at its limit."""
_HEAP_FLAG = re.compile(r"-Xm[xs]\d|-XX:\+Use\w*GC$|-XX:(Max|Initial)RAMPercentage=|-XX:MaxHeapSize=")


@dataclass(frozen=True)
class TrialOutcome:
    """What became of a trial. Requests a second, seconds, bytes."""

    lives: bool
    errors: int = 0
    rate: float | None = None
    p99: float | None = None
    peak: int | None = None
    death: str | None = None
    broken: str = ""
    """Which bound of the objective did not hold; empty if there is none, or all held."""


@dataclass(frozen=True)
class FloorBench:
    """Carries out trials of one contender."""

    bench: Bench
    contender: Contender
    sample: Sample
    load: Load
    timing: Timing
    objective: Objective | None = None

    @property
    def _contract(self) -> list[Check]:
        return self.bench.scenario.contract_over(self.load.protocol)

    def load_under(self, limit_mb: int | None, setting: MemorySetting) -> TrialOutcome:
        """Start under the limit, check lightly, and load."""
        bench = self.bench
        checks_hold = False
        result: LoadResult | None = None
        broken: str | None = None
        peak: int | None = None
        try:
            with self._started(self.load, limit_mb, setting) as contender:
                one = LoadSequence(bench, contender, self.load, self.sample)
                # The first check that breaks ends the trial: a service that thrashes lets each request time out.
                checks_hold = all(one.checker.check(check).passed for check in light_checks(self._contract))
                if checks_hold:
                    result = bench.put_load(one.prepare().job(self.timing, watch=False))
                    peak = contender.process.cgroup.memory_peak() if contender.process.cgroup else None
        except TouchstoneError as error:
            broken = error.what
        death = self._death(broken)
        if result is None or death or not checks_hold:
            return TrialOutcome(False, death=death or "it broke the contract")
        missed = breach(result, self.objective) if self.objective else ""
        return TrialOutcome(
            True, result.counts.not_right, result.rate.achieved, result.latency.p99, peak, broken=missed
        )

    def contract_under(self, limit_mb: int, setting: MemorySetting) -> str | None:
        """Check the whole contract under the limit; what broke it, None if it holds."""
        bench = self.bench
        broken: str | None = None
        # As the run's own check of it: with the dependencies' usual settings.
        usual = self.load.model_copy(update={"dependency_settings": {}})
        try:
            with self._started(usual, limit_mb, setting) as contender:
                checker = ContractChecker(contender.service, bench.dependencies, bench.seed)
                outcomes = (checker.check(check) for check in self._contract)
                broken = next((f"it broke the contract: {one.says}" for one in outcomes if not one.passed), None)
        except TouchstoneError as error:
            broken = error.what
        return self._death(None) or broken

    @contextmanager
    def _started(self, load: Load, limit_mb: int | None, setting: MemorySetting) -> Iterator[StartedService]:
        """The contender for a load and under the limit. What the sample says of an earlier death is forgotten first."""
        self.sample.process.oom_kills = None
        self.sample.process.server_exit = None
        built = with_setting(self.bench.builds[self.contender.name], setting, limit_mb)
        under = load.model_copy(update={"memory_limit_mb": limit_mb})
        within_s = self.bench.scenario.ready.within_s * (_THRASHES if limit_mb else 1.0)
        with running(self.bench, built, self.sample.process, under=under, ready_within_s=within_s) as contender:
            yield contender

    def _death(self, broken: str | None) -> str | None:
        """How the process died, with kills by the kernel named; None if it lived."""
        if self.sample.process.oom_kills:
            return "killed by the kernel for want of memory"
        return broken or self.sample.process.server_exit


def with_setting(built: Built, setting: MemorySetting, limit_mb: int | None) -> Built:
    """The contender with heap flags for a limit: arguments go right behind the program's name."""
    heap = "" if limit_mb is None else str(max(1, int(limit_mb * setting.heap_share)))
    arguments = [argument.replace("{heap_mb}", heap) for argument in setting.args]
    env = {name: value.replace("{heap_mb}", heap) for name, value in setting.env.items()}
    kept = [argument for argument in built.argv[1:] if not (setting.args and _HEAP_FLAG.match(argument))]
    return replace(built, argv=(built.argv[0], *arguments, *kept), env={**built.env, **env})
