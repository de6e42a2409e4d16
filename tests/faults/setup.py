"""What one entry of the catalogue is: a set-up with one thing wrong, or an odd one that is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Planted = Literal["server", "dependency", "machine", "manifest", "record"]
"""Where the fault sits. `record`: a test cannot bring the machine into the state (no swap, no clock that may be set),
so a real run is recorded first, its samples on disk are edited, and the record is judged."""


@dataclass(frozen=True)
class Server:
    """One contender: the program, and its behaviour."""

    knobs: dict[str, int] = field(default_factory=dict)
    """For the file `behaviour` next to the program; nothing of it enters the record."""
    program: Literal["server", "sources", "service", "consumer", "null"] = "server"
    """The C server, compiled or as sources; the Python service with dependencies, or its consumer of a topic; or the
    engine's null server."""
    env: dict[str, str] = field(default_factory=dict)
    needs: dict[str, str] = field(default_factory=dict)
    build: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Setup:
    """One set-up. Contenders are called `one`, `two`, ... whatever is wrong with them; the last is the faulty one."""

    id: str
    says: str
    """What is wrong; for a sound set-up what is odd about it."""
    expects: tuple[str, ...] = ()
    """The findings that must fire, `a|b` if either will do; none for a sound set-up."""
    planted: Planted = "server"
    servers: tuple[Server, ...] = (Server(),)
    load: dict[str, Any] = field(default_factory=dict)
    """Over the usual load: 16 connections, closed loop, `GET /work?n={counter}`."""
    scenario: dict[str, Any] = field(default_factory=dict)
    """Further tables of scenario.toml, such as dependencies."""
    contract: tuple[dict[str, Any], ...] = ()
    """Further checks."""
    seconds: float | None = None
    """The measured time, and the least time before it; None for the profile's. Quick has its own, and takes neither."""
    warmup: float | None = None
    rounds: int | None = 1
    """None for the profile's."""
    phases: tuple[str, ...] = ("load",)
    profile: str = "quick"
    machine: str | None = None
    """The disturbance of the machine (machine.py) that goes with it."""
    needs_quiet: bool = False
    """It weighs CPU time or a rate against another, and cannot be planted while others use the CPUs."""
    edit: Callable[[Path], None] | None = None
    """For `planted = "record"`: changes the files of a recorded run."""
    least: dict[str, str] = field(default_factory=dict)
    """The severity that a finding must have at least, where it is not that of its rule."""

    never: tuple[str, ...] = ()
    """Findings that may not fire at all, not even as notes."""

    def __post_init__(self) -> None:
        if self.profile == "quick" and (self.seconds, self.warmup) != (None, None):
            raise ValueError(f"{self.id}: the quick profile has times of its own")

    @property
    def sound(self) -> bool:
        """Whether nothing may fire."""
        return not self.expects


def knobs(**values: int) -> tuple[Server, ...]:
    """One C server with these knobs."""
    return (Server(values),)
