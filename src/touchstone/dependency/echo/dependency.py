"""The dependency `echo`: what a service calls, counted from the other side."""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from touchstone.dependency.base import Dependency, DependencyContext, DependencyError, UnknownActError, WorkProgress
from touchstone.dependency.echo.ceiling import measure_ceiling
from touchstone.dependency.echo.control import Arrival
from touchstone.dependency.echo.process import ENGINE, SERVERS, DownstreamKind, RunningDownstream, start_downstream
from touchstone.record.sample import DependencyState

_GRACE_S = 2.0
"""How long the connections of a contender that has just ended may take to go."""
_QUERY = re.compile(r"(?P<what>\w+):(?P<key>\S+)(?:\s*(?P<than><=|>=|<|>)\s*(?P<bound>\d+))?")
_COUNTERS = {
    "connections": ("opened", "open", "peak"),
    "in_flight": ("now", "peak"),
    "ids": ("received", "distinct", "duplicates"),
}
_LONGEST_MS = 60_000
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class Echo(Dependency):
    """Settings: `delay_ms` (10), and `server`: `engine`, or `python` for the exhibit. The service calls `/echo`.

    Questions: `hits:/echo` (by path), `connections:opened`, `:open` and `:peak`, `in_flight:now` and `:peak`,
    `ids:received`, `:distinct` and `:duplicates` (of `/echo?id=`); with a bound behind, such as
    `connections:peak <= 256`, the answer is `yes` or what was found instead. Acts: `fail` (with `status`, 500),
    `slow` (with `delay_ms`, 6000), `refuse`, `recover`, and `count` (every counter to zero).
    """

    kind: ClassVar[str] = "echo"
    acts: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "fail": ("status",),
        "slow": ("delay_ms",),
        "refuse": (),
        "recover": (),
        "count": (),
    }
    divisible = True

    def __init__(self, name: str, env: str, settings: dict[str, Any], context: DependencyContext) -> None:
        super().__init__(name, env, settings, context)
        self._asked: dict[str, Any] = dict(settings)
        self._downstream: RunningDownstream | None = None
        self._ceilings: dict[DownstreamKind, float] = {}
        self._parts = 0

    @classmethod
    def wrong_settings(cls, settings: dict[str, Any], scenario: Path) -> list[tuple[str, str]]:
        """Unknown keys, and values that no downstream has."""
        found = [(key, f"a downstream has no setting {key!r}") for key in settings if key not in ("delay_ms", "server")]
        delay = settings.get("delay_ms", 10.0)
        if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0 <= delay <= _LONGEST_MS:
            found.append(("delay_ms", f"{delay!r} is not a number from 0 to {_LONGEST_MS:,}"))
        if settings.get("server", ENGINE) not in SERVERS:
            found.append(("server", f"{settings['server']!r} is none of {', '.join(SERVERS)}"))
        return found

    @classmethod
    def wrong_query(cls, query: str, settings: dict[str, Any]) -> str | None:
        """Whether there is such a counter."""
        match = _QUERY.fullmatch(query.strip())
        if match is None or (match["what"] != "hits" and match["key"] not in _COUNTERS.get(match["what"], ())):
            return f"the downstream has no counter {query!r}"
        return None

    def start(self) -> None:
        """Start it with the scenario's settings, and measure its own highest rate."""
        self._run(self._kind(self.settings))
        self.ceiling("")

    def part(self) -> Echo:
        """A server of its own: hits and connections are counted by contender."""
        self._parts += 1
        context = replace(self.context, folder=self.context.folder / f"part-{self._parts}")
        context.folder.mkdir(parents=True, exist_ok=True)
        part = Echo(self.name, self.env, self.settings, context)
        # Its highest rate depends on machine and program, so it is not measured again for each part.
        part._ceilings = self._ceilings
        part.start()
        return part

    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Counters at zero and no fault; another server where the settings ask for one."""
        self._asked = self.settings | settings
        leftovers = self._leftovers()
        if leftovers or self._downstream is None or self._downstream.process.exited():
            self._end()
        self._run(self._kind(self._asked))
        self.ceiling("")
        running = self._running()
        running.control.fail("mode=off")
        running.control.reset()
        return leftovers

    def address(self) -> dict[str, str]:
        """The address, without a path."""
        host, port = self.reached_at()
        return {"url": f"http://{host}:{port}", "host": host, "port": port}

    def listens_at(self) -> tuple[str, str]:
        """Host and port of the downstream."""
        host, _, port = self._running().address.rpartition(":")
        return host, port

    @contextmanager
    def fault(self, act: str, settings: Mapping[str, Any]) -> Iterator[None]:
        """Every response has the status of `settings`, 503 if there is none."""
        control = self._running().control
        control.fail(f"mode=status&code={int(settings.get('status') or 503)}")
        try:
            yield
        finally:
            control.fail("mode=off")

    def ask(self, query: str) -> int | float | str:
        """Look up a counter, or hold it against a bound."""
        match = _QUERY.fullmatch(query.strip())
        if match is None:
            raise self._unknown(query)
        stats = self._running().control.stats()
        if match["what"] == "hits":
            value = stats["paths"].get(match["key"], 0)
        else:
            value = (stats.get(match["what"]) or {}).get(match["key"])
        if not isinstance(value, int | float):
            raise self._unknown(query)
        if match["than"] is None:
            return value
        return "yes" if _COMPARE[match["than"]](value, int(match["bound"])) else f"no, {value}"

    def act(self, act: str, arguments: dict[str, Any]) -> None:
        """Fail in one of the known ways, recover, or reset the counts."""
        control = self._running().control
        if act == "fail":
            control.fail(f"mode=status&code={int(arguments.get('status', 500))}")
        elif act == "slow":
            control.fail(f"mode=slow&delay_ms={int(arguments.get('delay_ms', 6000))}")
        elif act == "refuse":
            control.fail("mode=refuse")
        elif act == "recover":
            control.fail("mode=off")
        elif act == "count":
            control.reset()
        else:
            raise UnknownActError(
                f"dependency {self.name!r} (echo) cannot {act!r}",
                fix=f"its acts are: {', '.join(self.acts)}",
            )

    def arrivals(self, start: int = 0) -> list[Arrival]:
        """The message ids that came, in their order, from a place on."""
        return self._running().control.arrivals(start)

    def observe(self) -> dict[str, float]:
        """Its counters, flat; `late_p99_s` is how late its own timer was."""
        stats = self._running().control.stats()
        found: dict[str, float] = {
            "hits": stats["paths"].get("/echo", 0),
            "requests": stats["requests"],
            "lost": stats["lost"],
        }
        for group in ("connections", "in_flight", "ids"):
            found |= {f"{group}_{key}": value for key, value in stats[group].items()}
        late = (stats.get("late_s") or {}).get("p99")
        return found if late is None else found | {"late_p99_s": late}

    def read_settings(self) -> dict[str, Any]:
        """The delay as the server states it, and which server it is."""
        running = self._running()
        return {"delay_ms": running.control.stats()["delay_s"] * 1000, "server": running.kind.server}

    def pids(self) -> list[int]:
        """The server's process."""
        return [] if self._downstream is None else [self._downstream.process.pid]

    def sessions(self) -> int | None:
        """Connections that are open now."""
        return None if self._downstream is None else int(self._downstream.control.stats()["connections"]["open"])

    def reach(self) -> WorkProgress | None:
        """The calls that have come."""
        return None if self._downstream is None else WorkProgress(int(self._downstream.control.stats()["requests"]))

    def ceiling(self, request_hint: str) -> float | None:
        """Requests a second under the present settings; measured once for each."""
        running = self._running()
        if running.kind not in self._ceilings:
            self._ceilings[running.kind] = measure_ceiling(running, self.context.cpus)
        return self._ceilings[running.kind]

    def state(self, before: dict[str, float], after: dict[str, float], leftovers: list[str]) -> DependencyState:
        """The record of it, with its ceiling; what was asked for includes what the load changed."""
        state = super().state(before, after, leftovers)
        return state.model_copy(update={"asked": dict(self._asked), "ceiling": self.ceiling("")})

    def stop(self) -> None:
        """End it."""
        self._end()

    def _kind(self, settings: dict[str, Any]) -> DownstreamKind:
        kind = DownstreamKind(str(settings.get("server", ENGINE)), float(settings.get("delay_ms", 10.0)))
        if kind.server not in SERVERS or not 0 <= kind.delay_ms <= _LONGEST_MS:
            raise DependencyError(
                f"the downstream cannot be {kind.server!r} with a delay of {kind.delay_ms:g} ms",
                where=f"dependency {self.name}",
                fix=f"set server to one of {', '.join(SERVERS)}, and delay_ms to 0 to 60,000",
            )
        return kind

    def _run(self, kind: DownstreamKind) -> None:
        if self._downstream is not None and self._downstream.kind != kind:
            self._end()
        if self._downstream is None:
            self._downstream = start_downstream(self.name, kind, self.context)

    def _running(self) -> RunningDownstream:
        if self._downstream is None:
            raise DependencyError(f"dependency {self.name} was used before it was started")
        return self._downstream

    def _end(self) -> None:
        ended, self._downstream = self._downstream, None
        if ended is not None:
            ended.process.stop(2.0)

    def _leftovers(self) -> list[str]:
        if self._downstream is None or self._downstream.process.exited():
            return []
        until = time.monotonic() + _GRACE_S
        while (held := self.sessions()) and time.monotonic() < until:
            time.sleep(0.02)
        return [f"connections of an earlier client still open: {held}"] if held else []

    def _unknown(self, query: str) -> DependencyError:
        return DependencyError(
            f"the downstream has no counter {query!r}",
            where=f"dependency {self.name}",
            fix="ask hits:/PATH, connections:opened|open|peak, in_flight:now|peak or ids:received|distinct|duplicates",
        )
