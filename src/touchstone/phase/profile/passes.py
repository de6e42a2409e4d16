"""The passes over one running contender: warm, then at the common rate without a profiler, with it, and counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from touchstone.bench.base import Bench
from touchstone.bench.service import StartedService
from touchstone.contract.values import fresh_of
from touchstone.engine.job import next_counter, traffic
from touchstone.engine.protocol import Traffic
from touchstone.engine.slices import SlicesSession, Turn, TurnRecord
from touchstone.failure import TouchstoneError
from touchstone.manifest.load import Load
from touchstone.record.evidence.profile import ProfilePass
from touchstone.traffic.warming import WarmingContender, WarmUpBudget

SETTLE_S = 0.5
COUNTED_S = 3.0
"""For how long system calls and instructions are counted."""
_WARM, _STEADY, _COUNTED = 0, 1, 2
COUNTED_RATE = 200.0
"""Requests per second while system calls are counted, at the most: a traced call takes tens of microseconds."""


class PassError(TouchstoneError):
    """A pass did not give what a profile needs."""


@dataclass
class ProfilePasses:
    """A context: the engine holds its connections to one contender, for one kind of pass at a time.

    Each kind has connections of its own, made when it begins: those that rest for long are closed by their server.
    """

    bench: Bench
    load: Load
    running: StartedService
    rate: float | None
    """Requests per second; None while it is being looked for."""
    _kind: int | None = None
    _session: SlicesSession | None = None
    _closing: ExitStack = field(default_factory=ExitStack)
    _sessions: int = 0
    _counter: int = 0
    """The first counter of the next turn's session: numbers are unique over all of them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *what: Any) -> None:
        self._end()

    def _end(self) -> None:
        if self._session is not None:
            self._closing.close()
        self._session = self._kind = None

    def _for(self, kind: int) -> SlicesSession:
        """The session of this kind of pass; another one's is ended."""
        if self._session is None or self._kind != kind:
            self._end()
            turns = self.bench.take_turns({"pass": self._traffic(kind)}, self.load.timeout_s)
            self._session = self._closing.enter_context(turns)
            self._kind = kind
        return self._session

    def _traffic(self, kind: int) -> Traffic:
        if kind == _WARM:
            load = self.load.model_copy(update={"loop": "closed", "rate": None})
        else:
            rate = self.counted_rate if kind == _COUNTED else self.rate
            load = self.load.model_copy(update={"loop": "open", "rate": rate})
        self._sessions += 1
        url = self.running.service.url_of(*load.all_requests)
        job = traffic(load, url, seed=self.bench.seed + self._sessions, fresh=fresh_of(self.bench.seed))
        job["first_counter"] = self._counter
        job["watch"] = self.running.watch(after_s=0.0)
        return job

    def warm_up(self, budget: WarmUpBudget) -> float:
        """Load it at full speed until it no longer gets faster or time is up.

        Gives how many requests per second it answered at last.
        """
        warming = WarmingContender(budget)
        while not warming.done:
            session = self._for(_WARM)
            for record in self._turns(session, "warmup", [Turn(0, self.bench.profile.slice_s)] * 2):
                warming.add(record)
            warming.dead = bool(session.fatal)
        self._sound(warming.records)
        last = warming.records[len(warming.records) // 2 :]
        return sum(r.completed for r in last) / max(sum(r.end - r.begin for r in last), 1e-9)

    def steady(self, seconds: float) -> ProfilePass:
        """One window at the common rate."""
        return self._pass(_STEADY, seconds)

    def settle(self) -> None:
        """A moment at the common rate: after the warm-up's rush caches and queues are other ones."""
        self._pass(_STEADY, SETTLE_S)

    def counted(self, seconds: float, around: Callable[[Callable[[], int]], None]) -> None:
        """A counting window at the rate. `around` gets its runner and reports the number of requests."""
        self._pass(_COUNTED, 0.3)
        around(lambda: self._pass(_COUNTED, seconds).requests)

    @property
    def counted_rate(self) -> float:
        """Requests per second of such a window."""
        return min(self.rate or COUNTED_RATE, COUNTED_RATE)

    def _pass(self, kind: int, seconds: float) -> ProfilePass:
        (record,) = self._turns(self._for(kind), "load", [Turn(0, seconds)])
        self._sound([record])
        return ProfilePass(
            seconds=record.end - record.begin,
            requests=record.completed,
            failed=sum(record.errors.values()),
            cpu_s=record.server_cpu_s,
        )

    def _turns(
        self, session: SlicesSession, phase: Literal["warmup", "load"], turns: Sequence[Turn]
    ) -> list[TurnRecord]:
        records = session.turns(phase, turns)
        self._counter = next_counter(self._counter, sum(record.sent for record in records))
        return records

    def _sound(self, records: Sequence[TurnRecord]) -> None:
        """Raises PassError if the contender does not answer as it must: error pages are not what is to be explained."""
        if self._session is not None and self._session.fatal:
            raise PassError("it could not be connected to: " + "; ".join(self._session.fatal.values()))
        answered, right = sum(r.completed for r in records), sum(r.ok for r in records)
        classes = sum((Counter(r.errors) for r in records), Counter(never_sent=sum(r.unsent for r in records)))
        failed = classes.total()
        if not answered or failed > self.load.error_allowance * (answered + failed):
            named = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in classes.most_common())
            raise PassError(
                f"{failed} of {answered + failed} requests of a profile's pass failed ({named}), {right} were right",
                fix="run the phase `load` first: it names what is wrong with them",
            )
