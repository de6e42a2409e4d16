"""Observes the dependencies around a load: counters before and after, CPU; sessions and written files meanwhile."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterable, Mapping
from types import TracebackType

from touchstone.dependency.base import Dependency, DependencyError
from touchstone.isolation.family import cpu_seconds, family
from touchstone.record.sample import DependencyState, WrittenFile

_INTERVAL_S = 0.05
_SESSIONS_EVERY = 5
"""Sessions are asked for at every fifth look: that costs the dependency something."""


class DependencyWatch:
    """A context around a load; `states` is filled when it ends."""

    def __init__(self, dependencies: Mapping[str, Dependency], leftovers: Mapping[str, list[str]]) -> None:
        self._dependencies = dependencies
        self._leftovers = leftovers
        self._done = threading.Event()
        self._sessions: dict[str, int] = {}
        self._written: dict[str, dict[str, WrittenFile]] = {name: {} for name in dependencies}
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self.states: list[DependencyState] = []

    def __enter__(self) -> DependencyWatch:
        self._before = {name: _observe(dep) for name, dep in self._dependencies.items()}
        self._cpu = {name: _cpu_seconds(dep.pids()) for name, dep in self._dependencies.items()}
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._sampler.join()
        for name, dep in self._dependencies.items():
            state = dep.state(self._before[name], _observe(dep), self._leftovers.get(name, []))
            state.sessions_peak = self._sessions.get(name)
            state.written = self._written[name]
            before, after = self._cpu[name], _cpu_seconds(dep.pids())
            state.cpu_s = after - before if before is not None and after is not None else None
            self.states.append(state)

    def _sample(self) -> None:
        for look in itertools.count():
            for name, dep in self._dependencies.items():
                with contextlib.suppress(DependencyError):
                    sessions = dep.sessions() if look % _SESSIONS_EVERY == 0 else None
                    if sessions is not None:
                        self._sessions[name] = max(sessions, self._sessions.get(name, 0))
                    for file, waits in dep.written().items():
                        seen = self._written[name].setdefault(file, WrittenFile())
                        seen.looks, seen.waiting = seen.looks + 1, seen.waiting + waits
            if self._done.wait(_INTERVAL_S):
                return


def _observe(dependency: Dependency) -> dict[str, float]:
    with contextlib.suppress(DependencyError):
        return dependency.observe()
    return {}


def _cpu_seconds(pids: Iterable[int]) -> float | None:
    """CPU seconds of these processes and their descendants; None if there are none."""
    used = [seconds for pid in pids for one in family(pid) if (seconds := cpu_seconds(one)) is not None]
    return sum(used) if used else None
