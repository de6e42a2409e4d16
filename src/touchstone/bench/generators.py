"""Who puts the load on: this machine's engine alone, or generators on other machines that it leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from touchstone.record.sample import GeneratorPlace


class Generators(Protocol):
    """Gives a load job what it needs to be put on from where the load comes from. The job is the same otherwise."""

    @property
    def host(self) -> str:
        """The address of this machine that contenders listen on, so that the load can reach them."""

    @property
    def places(self) -> Sequence[GeneratorPlace]:
        """The other machines that the load comes from; none if it comes from here."""

    def aboard(self, job: dict[str, Any]) -> AbstractContextManager[dict[str, Any]]:
        """A load job, complete for as long as the context lasts. Raises TouchstoneError that names a lost machine."""


class ThisMachine:
    """The load comes from this machine, over loopback."""

    host = "127.0.0.1"
    places: Sequence[GeneratorPlace] = ()

    @contextmanager
    def aboard(self, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The job as it is."""
        yield job
