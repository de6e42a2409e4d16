"""The interface of a dependency, and its inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from touchstone.failure import TouchstoneError
from touchstone.manifest.places import fill_places
from touchstone.record.sample import DependencyState
from touchstone.vocabulary.dependency import DEPENDENCIES


class DependencyError(TouchstoneError):
    """A dependency could not be started, reset or questioned."""


class UnknownActError(DependencyError):
    """A contract asks for something that this dependency cannot do."""


@dataclass(frozen=True)
class DependencyContext:
    """What a dependency may use."""

    folder: Path
    """Its own empty folder, removed when the run ends."""
    log_folder: Path
    """Where its log is kept with the results."""
    cpus: tuple[int, ...]
    """The CPUs that its processes are bound to."""
    engine: Path
    """The engine's executable."""
    cache: Path
    """Touchstone's cache folder, for downloads that outlive a run."""
    options: dict[str, str] = field(default_factory=dict)
    """What the user said on the command line, such as the address of an outside broker."""
    scenario: Path = Path()
    """The folder of scenario.toml."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Further variables that a service gets, made of the parts of its address."""
    relay_port: int | None = None
    """The port of this machine at which a relay stands before it under some loads; None where no load wants one."""


@dataclass(frozen=True)
class WorkProgress:
    """How far the work of a dependency has come."""

    done: int
    """Another number after each piece of work that a service has it do."""
    safe: int | None = None
    """How much of `done` would outlive a crash; None where that is not this kind's to say."""


@dataclass(frozen=True)
class ClientState:
    """What a dependency did for one of its clients at one moment."""

    at_s: float
    """Seconds of CLOCK_MONOTONIC."""
    port: int
    """The client's port."""
    state: str
    """In the dependency's own terms."""


class Dependency(ABC):
    """A dependency of a scenario. Started once a run, fresh for each contender's start, stopped at the end.

    The order of calls is start; for each contender reset, then observe, ask and act as the phase wants; then stop.
    """

    kind: ClassVar[str]
    acts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What can be done to it: each act, and the arguments that it takes."""
    divisible: bool = False
    """Whether several contenders can use it at once, each a part of its own."""
    relay: tuple[str, str] | None = None
    """Host and port of the relay that services are given in place of its own; None while there is none."""

    def __init__(self, name: str, env: str, settings: dict[str, Any], context: DependencyContext) -> None:
        self.name = name
        self.env = env
        self.settings = settings
        self.context = context

    @classmethod
    def missing(cls, context: DependencyContext) -> str | None:
        """Say what must be installed before this kind can be used, and how. None if nothing is missing."""
        return None

    @classmethod
    def wrong_settings(cls, settings: dict[str, Any], scenario: Path) -> list[tuple[str, str]]:
        """What is wrong with a scenario's settings before a start, as key and sentence.

        `scenario` is the folder of scenario.toml.
        """
        return []

    @classmethod
    def wrong_query(cls, query: str, settings: dict[str, Any]) -> str | None:
        """What can be known to be wrong with a proof's question before a start."""
        return None

    @abstractmethod
    def start(self) -> None:
        """Bring it up. Raises DependencyError with the last lines of its log."""

    @abstractmethod
    def reset(self, settings: dict[str, Any]) -> list[str]:
        """Make its state fresh, with `settings` over its own. Return in words what was left over from before."""

    @abstractmethod
    def address(self) -> dict[str, str]:
        """Where a service finds it, by the parts that its kind declares in the vocabulary."""

    def listens_at(self) -> tuple[str, str]:
        """Host and port at which the dependency itself listens. Raises DependencyError for a kind that does not."""
        raise DependencyError(f"dependency {self.name!r} ({self.kind}) has no port")

    def relayed_to(self) -> tuple[str, str]:
        """Host and port to which a relay connects. Raises DependencyError where no relay can stand before it."""
        return self.listens_at()

    def reached_at(self) -> tuple[str, str]:
        """Host and port that services are given: its own, or those of the relay."""
        return self.relay or self.listens_at()

    def fault(self, act: str, settings: Mapping[str, Any]) -> AbstractContextManager[None]:
        """A context in which it has a fault of its own, one of its kind's `own_faults`. Raises DependencyError."""
        raise DependencyError(f"dependency {self.name!r} ({self.kind}) has no fault {act!r} of its own")

    def environment(self) -> dict[str, str]:
        """The environment variables through which a service finds it: `env`, and the scenario's further ones."""
        parts = self.address()
        whole = parts[DEPENDENCIES[self.kind].address[0]]
        return {self.env: whole} | {name: fill_places(text, parts) for name, text in self.context.variables.items()}

    def folders(self) -> list[Path]:
        """Folders of this machine without which a service cannot reach it."""
        return []

    def not_done(self) -> str | None:
        """What touchstone did not do for it that it does for others, in a sentence. None if it did everything."""
        return None

    @abstractmethod
    def ask(self, query: str) -> int | float | str:
        """Answer a question of a contract's or a load's proof, in the dependency's own language."""

    def part(self) -> Dependency:
        """A part of it for one contender among several that run at once: started, and with a `stop` of its own.

        Its `reset` leaves what all share as this dependency's own `reset` has set it. Only where it is `divisible`.
        """
        raise DependencyError(f"dependency {self.name!r} ({self.kind}) cannot be divided among contenders")

    def act(self, act: str, arguments: dict[str, Any]) -> None:
        """Do something to it, such as `stop` or `start`. Raises UnknownActError."""
        raise UnknownActError(
            f"dependency {self.name!r} ({self.kind}) cannot {act!r}",
            fix="see docs/dependencies.md for what each kind can do",
        )

    @abstractmethod
    def observe(self) -> dict[str, float]:
        """Its own counters at this moment; taken before and after a load."""

    def read_settings(self) -> dict[str, Any]:
        """The settings as the dependency itself reports them, for those that it was asked for."""
        return {}

    def structure(self) -> dict[str, list[str]]:
        """By table, its indexes, triggers and ways of storage, sorted and without names. Empty if it has no tables."""
        return {}

    def pids(self) -> list[int]:
        """The root processes, for their CPU time; empty if it has none of its own."""
        return []

    def sessions(self) -> int | None:
        """How many sessions or connections it holds now; None if it does not know."""
        return None

    def reach(self) -> WorkProgress | None:
        """How far its work has come at this moment; None if it cannot tell."""
        return None

    @contextmanager
    def overheard(self) -> Iterator[dict[str, str]]:
        """The settings that clients work with, complete when the context ends.

        A client may change its own. Empty if nobody can see.
        """
        yield {}

    @contextmanager
    def asked_for_waits(self) -> Iterator[list[ClientState]]:
        """States of its clients, sampled until the context ends. Empty for a kind that does not report them."""
        yield []

    def written(self) -> dict[str, bool]:
        """Files changed since the last call, and whether the changes still wait for the disk.

        Nobody asked for them to be written. Empty if nobody can see.
        """
        return {}

    def ceiling(self, request_hint: str) -> float | None:
        """Requests a second that it answers by itself: its tare. None if that cannot be measured."""
        return None

    def state(self, before: dict[str, float], after: dict[str, float], leftovers: list[str]) -> DependencyState:
        """The record of it around a measurement."""
        return DependencyState(
            name=self.name,
            kind=self.kind,
            settings=self.read_settings(),
            structure=self.structure(),
            asked={key: value for key, value in self.settings.items() if key != "schema"},
            before=before,
            after=after,
            cpus=list(self.context.cpus),
            leftovers=leftovers,
        )

    @abstractmethod
    def stop(self) -> None:
        """End it and every process that it started. Does not raise if it is down already."""
