"""Waiting for a contender that has been started: until it answers rightly, ends, or has settled on a wrong answer."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field

import psutil

from touchstone.bench.base import Bench, Ports
from touchstone.contract.values import ValueSource
from touchstone.contract.words import secrets_within
from touchstone.engine.ask import AskedService, Response
from touchstone.engine.tls_port import speaks_tls
from touchstone.isolation.family import cpu_seconds
from touchstone.isolation.port import Listener, is_open, listeners, places_of
from touchstone.isolation.process import ServerProcess, StartError
from touchstone.manifest.exchange import Request
from touchstone.manifest.spoken import PLAIN, SpokenProtocol
from touchstone.record.secret import without

SETTLED_AFTER_S = 10.0
"""A wrong answer that has stayed the same for so long is the service's answer. What comes with a 5xx may still become
right: a service says 503 until its database is there."""
_TOLD_AFTER_S = 1.0
"""Time after which a lasting wrong answer is reported to the user."""
_SOUGHT_AFTER_S = 3.0
"""Time after which a silent service is looked for at other ports and addresses. The wait continues
while it works or opens further ports: the port for administration may be the first to open."""
_LOOKED_EVERY_S = 2.0
_NOT_FOUND = 127
"""With it a shell and `env` end that do not find a program (POSIX 2.8.2)."""
_MISSING = re.compile(
    r"No module named|Cannot find (?:module|package)|Could not find or load main class|Unable to access jarfile"
    r"|NoClassDefFoundError|cannot load such file|error while loading shared libraries"
    r"|(?:^|/)(?:ba|da)?sh: .*not found$"
)
"""What Python, Node.js, Java, Ruby, the loader of libraries and shells say of what they do not find."""
LONGER = "`within_s` of [ready] in scenario.toml"
"""What says how long a start may take."""
_CROWDED = 0.8
"""The share of busy CPU time above which a start that is late may be so for want of a CPU."""
_RESTS = 0.05
"""CPUs below which a server does no more for its start; an idle JVM uses a hundredth."""


_MISMATCH_AFTER_S = 0.5
"""A server that speaks something else than it is asked in does so from its first response on."""
TO_SPEAK = (
    "let the service speak TLS where TLS_CERT is set, and only there; `protocol` and `tls` in scenario.toml say how it "
    "is asked, and `speaks` in stack.toml lists the protocols of the stack"
)


@dataclass
class _WrongResponse:
    """The wrong answer that comes at present, and since when."""

    clock: float = field(default_factory=time.monotonic)
    text: str = "nothing"
    shown: str = ""
    final: bool = False
    reported: bool = False

    def see(self, answer: Response, secrets: list[str]) -> None:
        """Take note of an answer, which may echo secrets. A different answer restarts the count."""
        text = without("; ".join(answer.faults), secrets)
        shown = "" if answer.failure else without(str(answer), secrets)
        if (text, shown) != (self.text, self.shown):
            self.clock, self.text, self.shown, self.reported = time.monotonic(), text, shown, False
        self.final = answer.status is not None and answer.status < 500

    @property
    def lasts_s(self) -> float:
        return time.monotonic() - self.clock

    def __str__(self) -> str:
        return f"{self.text} (received {self.shown})" if self.shown else self.text


@dataclass
class _OtherAddress:
    """Where an unresponsive server listens instead, and since when it has opened no further port."""

    looked: float = -math.inf
    since: float = 0.0
    places: list[Listener] = field(default_factory=list)
    cpu_s: float = 0.0
    reported: bool = False

    def look(self, process: ServerProcess, asked: tuple[str, int]) -> StartError | None:
        """Look again if it is time to; what is wrong if it listens elsewhere."""
        now = time.monotonic()
        elapsed = now - self.looked
        if elapsed < _LOOKED_EVERY_S:
            return None
        tree = process.tree()
        places = places_of(member.pid for member in tree)
        cpu_s = sum(cpu_seconds(member) or 0.0 for member in tree)
        if places != self.places or cpu_s - self.cpu_s > _RESTS * elapsed:
            self.since = now
        self.looked, self.places, self.cpu_s = now, places, cpu_s
        return _elsewhere(places, asked)

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be expected."""
        return self.looked - self.since >= SETTLED_AFTER_S


@dataclass
class OtherProtocol:
    """Whether a server that does not answer speaks something else than it is asked in. Each look costs handshakes."""

    service: AskedService
    spoken: SpokenProtocol
    looked: float = -math.inf

    def look(self, answer: Response) -> str | None:
        """Look again if it is time to. How it speaks something else, given that it did not answer, if it does."""
        now = time.monotonic()
        if now - self.looked < _LOOKED_EVERY_S:
            return None
        self.looked = now
        return mismatch(self.service, answer, self.spoken)


class _CpuSinceStart:
    """CPU time since the wait began: the machine's and the server's."""

    def __init__(self) -> None:
        self._begun = psutil.cpu_times()

    def of(self, process: ServerProcess) -> tuple[float, float]:
        """The busy share of the machine's CPU time, and the server's share of it."""
        spent = [now - before for now, before in zip(psutil.cpu_times(), self._begun, strict=True)]
        whole = dict(zip(self._begun._fields, spent, strict=True))
        # The time of guests is within `user` and `nice`.
        total = sum(whole.values()) - whole.get("guest", 0.0) - whole.get("guest_nice", 0.0)
        rested = whole["idle"] + whole.get("iowait", 0.0)
        own = sum(cpu_seconds(member) or 0.0 for member in process.tree())
        return 1 - rested / max(total, 1e-9), own / max(total, 1e-9)


def wait_until_ready(
    bench: Bench, process: ServerProcess, ports: Ports, within_s: float, spoken: SpokenProtocol = PLAIN
) -> None:
    """Ask until the scenario's `ready` request is answered correctly, and both ports are open.

    Raises StartError that says what came instead.
    """
    host = bench.generators.host
    ready = bench.scenario.ready
    place = host, (ports.grpc if ready.grpc else None) or ports.main
    service = AskedService.at(*place, timeout_s=5.0, spoken=spoken)
    values = ValueSource(bench.seed)
    closed: list[int] = []
    effort = _CpuSinceStart()
    deadline = time.monotonic() + within_s
    wrong = _WrongResponse()
    elsewhere, otherwise = _OtherAddress(), OtherProtocol(service, spoken)
    while time.monotonic() < deadline:
        if how := process.exited():
            raise _ended(how, process)
        answer = service.exchange(ready, drawn := values.next())
        if not answer.faults:
            closed = [port for port in ports.all if port != place[1] and not is_open(host, port)]
            if not closed:
                return
            time.sleep(0.02)
            continue
        wrong.see(answer, secrets_within(ready, drawn))
        if answer.failure and wrong.lasts_s >= _MISMATCH_AFTER_S and (other := otherwise.look(answer)):
            raise StartError(other, fix=f"{TO_SPEAK}; its log: {process.log}")
        if wrong.final and wrong.lasts_s >= SETTLED_AFTER_S:
            raise _settled(ready, wrong, process)
        if wrong.shown and not wrong.reported and wrong.lasts_s >= _TOLD_AFTER_S:
            wrong.reported = True
            bench.watcher.say(f"  waiting: {ready.method} {ready.target}: {wrong}")
        if not wrong.shown and wrong.lasts_s >= _SOUGHT_AFTER_S and (misplaced := elsewhere.look(process, place)):
            if elsewhere.settled:
                raise misplaced
            if not elsewhere.reported:
                elsewhere.reported = True
                bench.watcher.say(f"  waiting: {misplaced.what}")
        time.sleep(0.02)
    if closed:
        raise _closed(closed[0], ports, process, within_s)
    raise _misplaced(wrong, process, place) or _too_late(ready, wrong, process, within_s, effort)


def mismatch(service: AskedService, answer: Response, spoken: SpokenProtocol) -> str | None:
    """Which other protocol a server without a response may speak. None if none is likely."""
    if answer.mismatch:
        return f"the server is asked over {spoken}, and does not speak it: {answer.failure}"
    if spoken.label == "h1" and service.speaks_http2():
        return "the server speaks HTTP/2 only, and is asked over HTTP/1.1"
    if not spoken.tls and speaks_tls(service.url):
        return f"the server speaks TLS, and is asked over {spoken}"
    return None


def _settled(ready: Request, wrong: _WrongResponse, process: ServerProcess) -> StartError:
    return StartError(
        f"the server answers {ready.method} {ready.target} wrongly, and has done so for {SETTLED_AFTER_S:g} s: {wrong}",
        fix=f"correct the service, or [ready] in scenario.toml; its log: {process.log}",
    )


def _ended(how: str, process: ServerProcess) -> StartError:
    what = f"the server {how} before it was ready"
    if left := process.left_behind():
        return StartError(
            f"{what}, and left {', '.join(left)} running",
            fix="keep it in the foreground: a contender is the process that its command starts",
        )
    advice = f"read its log: {process.log}" if process.tail(1) else "it wrote nothing: run its command by hand"
    if process.popen.returncode == _NOT_FOUND or any(_MISSING.search(line) for line in process.tail()):
        cause = (
            "a program or a module that it needs is not there: what brings it is `install` or `build` in its "
            "stack.toml, and `artifacts` must name it"
        )
    else:
        cause = "its environment is minimal: set the variables that it needs by `env` in its stack.toml"
    return StartError(what, fix=f"{advice}; {cause}")


def _elsewhere(places: list[Listener], asked: tuple[str, int]) -> StartError | None:
    """Where it listens, if that is not where it is asked. None if it listens there, or nowhere."""
    host, port = asked
    if not places or is_open(host, port):
        return None
    if same_port := [place for place in places if place.port == port]:
        return StartError(
            f"the server listens on {same_port[0]}, which cannot be reached at {host}",
            fix="take the address from HOST in the environment, or say {host} in `run` or `env`",
        )
    return StartError(
        f"the server listens on port {places[0].port} instead of {port}",
        fix="take the port from PORT in the environment, or say {port} in `run` or `env`; "
        f"for a fixed port set `port = {places[0].port}` in its variant",
    )


def _closed(port: int, ports: Ports, process: ServerProcess, within_s: float) -> StartError:
    """One of two ports was not opened, though the service is ready at the other."""
    key, variable = ("grpc_port", "GRPC_PORT") if port == ports.grpc else ("port", "PORT")
    return StartError(
        f"the server is ready, but did not listen on its {key} {port} within {within_s:g} s",
        fix=f"take that port from {variable} in the environment; or correct `grpc_port` of its variant, which is left "
        f"out where one port serves everything; its log: {process.log}",
    )


def _misplaced(wrong: _WrongResponse, process: ServerProcess, asked: tuple[str, int]) -> StartError | None:
    """What is wrong with a server that works but listens elsewhere or speaks otherwise."""
    if wrong.shown:
        return None
    return _elsewhere(places_of(member.pid for member in process.tree()), asked)


def _too_late(
    ready: Request, wrong: _WrongResponse, process: ServerProcess, within_s: float, effort: _CpuSinceStart
) -> StartError:
    busy, own = effort.of(process)
    crowded = busy > _CROWDED and own < busy / 2
    return StartError(
        f"the server gave no correct response to {ready.target} within {within_s:g} s; last: {wrong}; meanwhile this "
        f"machine's CPUs were {busy:.0%} busy, {own:.0%} of their time with the server",
        fix=f"read its log: {process.log}; {'wait until others use the machine less, or ' if crowded else ''}"
        f"give a slow start longer: {LONGER}",
    )


def wait_for_listener(process: ServerProcess, port: int, within_s: float) -> None:
    """Wait until a further process of a contender listens on the shared port, too. Raises StartError."""
    deadline = time.monotonic() + within_s
    while process.pid not in listeners(port):
        if how := process.exited():
            raise StartError(
                f"a further server process {how}: it must be able to share its port (SO_REUSEPORT)",
                fix=f"its log: {process.log}",
            )
        if time.monotonic() > deadline:
            raise StartError(f"a further server process does not listen on port {port}", fix=f"its log: {process.log}")
        time.sleep(0.02)
