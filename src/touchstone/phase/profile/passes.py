"""The passes over one running contender: warm, then at the common rate without a profiler, with it, and counting."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from touchstone.bench.base import Bench
from touchstone.bench.service import Running
from touchstone.engine.job import traffic, watch
from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.failure import TouchstoneError
from touchstone.manifest.load import Load
from touchstone.phase.load.warm_up import Budget, WarmingContender
from touchstone.record.evidence.profile import ProfilePass

_GAP_S = 0.005
_WARM, _STEADY, _COUNTED = 0, 1, 2
COUNTED_RATE = 200.0
"""Requests per second while system calls are counted, at the most: a traced call takes tens of microseconds."""


class PassError(TouchstoneError):
    """A pass did not give what a profile needs."""


@dataclass
class Passes:
    """A context: the engine holds its connections to one contender, closed loop and open loop next to each other."""

    bench: Bench
    load: Load
    running: Running
    rate: float | None
    """Requests per second; None while it is being looked for."""

    def __enter__(self) -> Self:
        self._session = SlicesSession(self._job(), self.load.timeout_s, self.bench.watcher.event)
        self._session.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        self._session.__exit__(*what)

    def _job(self) -> dict[str, Any]:
        rates = [] if self.rate is None else [self.rate, min(self.rate, COUNTED_RATE)]
        opened = [self.load.model_copy(update={"loop": "open", "rate": rate}) for rate in rates]
        cpus = list(self.bench.placement.engine_cpus)
        contenders = [
            {"name": f"pass {number}", "job": self._part(load, number)}
            for number, load in enumerate([self.load.model_copy(update={"loop": "closed", "rate": None}), *opened])
        ]
        return {"cpus": cpus, "threads": max(1, len(cpus)), "gap_s": _GAP_S, "contenders": contenders}

    def _part(self, load: Load, number: int) -> dict[str, Any]:
        job = traffic(load, self.running.url, seed=self.bench.seed + number)
        # The parts count their requests apart, and what is unique in a run must be unique over all of them.
        job["requests"] = json.loads(json.dumps(job["requests"]).replace("{counter}", f"{number}{{counter}}"))
        cgroup = self.running.process.cgroup
        folders = [str(folder) for folder in cgroup.folders] if cgroup else []
        job["watch"] = watch(self.running.process.pid, folders, self.bench.placement.server_cpus, after_s=0.0)
        return job

    def closed(self, seconds: float) -> float:
        """As many requests as it answers, for so long; how many per second in the last half."""
        records = self._session.turns("warmup", [Turn(_WARM, seconds / 4) for _ in range(4)])
        self._sound(records)
        last = records[2:]
        return sum(r.completed for r in last) / max(sum(r.end - r.begin for r in last), 1e-9)

    def warm_up(self) -> None:
        """Load it as fast as it answers until that no longer gets faster, or the profile's time is used up."""
        profile = self.bench.profile
        warming = WarmingContender(Budget(profile.warm_least_s, profile.warm_most_s))
        while not warming.done:
            for record in self._session.turns("warmup", [Turn(_WARM, profile.slice_s)] * 2):
                warming.add(record)
            warming.dead = bool(self._session.fatal)
        self._sound(warming.records)

    def steady(self, seconds: float) -> ProfilePass:
        """One window at the common rate."""
        return self._pass(_STEADY, seconds)

    def settle(self) -> None:
        """A moment at the common rate: after the warm-up's rush caches and queues are other ones."""
        self._pass(_STEADY, 0.5)

    def counted(self, seconds: float, around: Callable[[Callable[[], int]], None]) -> None:
        """A window at the rate for counting; `around` is given what carries it out and says how many requests."""
        self._pass(_COUNTED, 0.3)
        around(lambda: self._pass(_COUNTED, seconds).requests)

    @property
    def counted_rate(self) -> float:
        """Requests per second of such a window."""
        return min(self.rate or COUNTED_RATE, COUNTED_RATE)

    def _pass(self, part: int, seconds: float) -> ProfilePass:
        (record,) = self._session.turns("load", [Turn(part, seconds)])
        self._sound([record])
        return ProfilePass(
            seconds=record.end - record.begin,
            requests=record.completed,
            failed=sum(record.errors.values()),
            cpu_s=record.server_cpu_s,
        )

    def _sound(self, records: Sequence[TurnRecord]) -> None:
        """Raises PassError if the contender does not answer as it must: error pages are not what is to be explained."""
        if self._session.fatal:
            raise PassError("it could not be connected to: " + "; ".join(self._session.fatal.values()))
        answered, right = sum(r.completed for r in records), sum(r.ok for r in records)
        failed = sum(sum(r.errors.values()) for r in records)
        if not answered or failed > self.load.error_allowance * (answered + failed):
            raise PassError(
                f"{failed} of {answered + failed} requests of a profile's pass failed, {right} were right",
                mend="run the phase `load` first: it says what is wrong with them",
            )
