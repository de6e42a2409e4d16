"""The floor phase: the smallest memory limit under which a contender lives, and under which it keeps its rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from touchstone.contract.checker import Checker, light_checks
from touchstone.engine.client import run_job
from touchstone.engine.job import Timing, load_job
from touchstone.failure import TouchstoneError
from touchstone.isolation.cgroup import describe_cgroups
from touchstone.manifest.catalogue import Contender
from touchstone.manifest.load import Load
from touchstone.manifest.scenario import Scenario
from touchstone.manifest.stack import MemorySetting
from touchstone.phase.base import Bench, Built, Phase, attempt, blank_sample
from touchstone.phase.load import prepare_load
from touchstone.phase.service import running
from touchstone.record.engine import LoadResult
from touchstone.record.sample import Sample

_MB = 2**20
_PLAIN = MemorySetting(title="as it is run")
_MEASURED_S = {"quick": 2.0, "normal": 4.0, "thorough": 10.0}


@dataclass(frozen=True)
class Trial:
    """One limit with one set of heap flags: what became of it."""

    limit_mb: int | None
    setting: str
    lives: bool
    passes: bool
    rate: float | None = None
    p99: float | None = None
    death: str | None = None

    def record(self) -> dict[str, object]:
        """The form that the record keeps; bytes, requests a second, seconds."""
        return {
            "limit": None if self.limit_mb is None else self.limit_mb * _MB,
            "setting": self.setting,
            "lives": self.lives,
            "passes": self.passes,
            "rate": self.rate,
            "p99": self.p99,
            "death": self.death,
        }


def smallest(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The smallest whole number in [low, high] for which `holds` is true, by bisection.

    `holds` must be monotone, as memory limits nearly are; None if it is false even for `high`.
    """
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


class FloorPhase(Phase):
    """Bisects the limit to one megabyte; at each limit every heap setting is tried until one is enough."""

    name: ClassVar[str] = "floor"
    title: ClassVar[str] = "Memory floor"
    default: ClassVar[bool] = False

    def applies(self, scenario: Scenario) -> bool:
        """Only where the scenario says under which load."""
        return scenario.floor is not None

    def measure(self, bench: Bench, contender: Contender, round_number: int | None, position: int) -> list[Sample]:
        """One sample with every trial in its detail."""
        assert bench.scenario.floor is not None  # `applies` has seen to it
        sample = blank_sample(bench, self.name, contender.name, load=bench.scenario.floor.load)
        if describe_cgroups() == "not permitted":
            reason = "a memory limit needs a cgroup, and none is permitted: run as root, or delegate a cgroup"
            sample.not_measured = {"floor_passes": reason, "floor_lives": reason}
            return [sample]
        search = _Search(bench, contender, sample)
        return [attempt(sample, lambda _sample: search.run(), bench.store.logs / f"{sample.id}.log")]


class _Search:
    """One contender's search."""

    def __init__(self, bench: Bench, contender: Contender, sample: Sample) -> None:
        assert bench.scenario.floor is not None  # the phase has seen to it
        self._bench = bench
        self._contender = contender
        self._sample = sample
        self._floor = bench.scenario.floor
        self._load: Load = bench.scenario.loads[self._floor.load]
        self._settings: Sequence[MemorySetting] = contender.variant.memory_settings or [_PLAIN]
        self._trials: list[Trial] = []
        self._wanted_rate = 0.0
        self._known: dict[int, Trial] = {}

    def run(self) -> None:
        """Measure without a limit, then bisect for living and for passing."""
        unlimited = self._try(None, _PLAIN)
        if unlimited.rate is None:
            raise TouchstoneError(f"without a limit the load fails: {unlimited.death}", where=self._contender.name)
        self._wanted_rate = unlimited.rate * self._floor.share_of_unlimited
        self._trials[0] = Trial(None, unlimited.setting, True, True, unlimited.rate, unlimited.p99)
        low, high = self._floor.from_mb, self._floor.to_mb
        passes = smallest(low, high, lambda limit: self._at(limit).passes)
        lives = smallest(low, passes or high, lambda limit: self._at(limit).lives)
        for name, value in (("floor_passes", passes), ("floor_lives", lives)):
            if value is None:
                self._sample.not_measured[name] = f"not even {high} MB were enough"
            else:
                self._sample.figures[name] = float(value * _MB)
        self._sample.detail["floor"] = {
            "unlimited_rate": unlimited.rate,
            "share": self._floor.share_of_unlimited,
            "tries": [t.record() for t in sorted(self._trials, key=lambda t: t.limit_mb or 1 << 30)],
        }

    def _at(self, limit_mb: int) -> Trial:
        """The best trial at a limit: heap settings are tried until one passes."""
        if limit_mb not in self._known:
            tried = []
            for setting in self._settings:
                tried.append(self._try(limit_mb, setting))
                if tried[-1].passes:
                    break
            self._known[limit_mb] = max(tried, key=lambda trial: (trial.passes, trial.lives, trial.rate or 0.0))
        return self._known[limit_mb]

    def _try(self, limit_mb: int | None, setting: MemorySetting) -> Trial:
        where = "without a limit" if limit_mb is None else f"at {limit_mb} MB, {setting.title}"
        self._bench.watcher.step(f"floor of {self._contender.name} {where}")
        trial = self._measured(limit_mb, setting)
        self._trials.append(trial)
        return trial

    def _measured(self, limit_mb: int | None, setting: MemorySetting) -> Trial:
        bench, sample = self._bench, self._sample
        sample.detail.pop("oom_kills", None)
        built = with_setting(bench.builds[self._contender.name], setting, limit_mb)
        limit = None if limit_mb is None else limit_mb * _MB
        lived = False
        result: LoadResult | None = None
        broken: str | None = None
        try:
            with running(
                bench, built, sample, settings=self._load.dependency_settings, memory_limit=limit
            ) as contender:
                checker = Checker(contender.service, bench.dependencies, bench.seed)
                checks = checker.run(light_checks(bench.scenario.contract))
                lived = all(check.passed for check in checks)
                prepare_load(checker, self._load, bench.seed)
                timing = Timing(1.0, _MEASURED_S[bench.profile.name], 0.0)
                cpus = bench.placement.engine_cpus
                job = load_job(self._load, contender.url, timing, cpus=cpus, seed=bench.seed)
                result = run_job("load", job, LoadResult, on_event=bench.watcher.event)
                lived = lived and contender.process.exited() is None
        except TouchstoneError as error:
            broken = error.what
        oom = sample.detail.get("oom_kills")
        death = "killed by the kernel for want of memory" if oom else broken or sample.server_exit
        if result is None or death or not lived:
            return Trial(limit_mb, setting.title, lived and not death, False, death=death or "the contract broke")
        errors = result.counts.errors.total + result.counts.unanswered
        rate = result.rate.achieved
        passes = errors == 0 and rate >= self._wanted_rate
        return Trial(limit_mb, setting.title, True, passes, rate, result.latency.p99)


def with_setting(built: Built, setting: MemorySetting, limit_mb: int | None) -> Built:
    """The contender with heap flags for a limit: arguments go right behind the program's name."""
    heap = "" if limit_mb is None else str(max(1, int(limit_mb * setting.heap_share)))
    arguments = [argument.replace("{heap_mb}", heap) for argument in setting.args]
    env = {name: value.replace("{heap_mb}", heap) for name, value in setting.env.items()}
    kept = [a for a in built.argv[1:] if not (setting.args and a.startswith(("-Xmx", "-Xms", "-XX:+Use")))]
    return Built(built.work, built.artifacts, (built.argv[0], *arguments, *kept), {**built.env, **env})
