"""Processes of the machine that were no part of a measurement."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, Field

from touchstone.record.base import EngineRecord


class OtherProcess(EngineRecord):
    """A process that was neither engine nor watched, and the CPU seconds that it used."""

    pid: int
    name: str = ""
    """The kernel's, at most 15 bytes; empty if it had ended before it could be asked."""
    cpu_s: float

    @property
    def called(self) -> str:
        """As sentences name it: `node (pid 812)`."""
        return f"{self.name or 'a process'} (pid {self.pid})"


def other_processes_field() -> Any:
    """A field of other processes, empty by default. Older records call it `strangers`."""
    names = AliasChoices("other_processes", "strangers")
    return Field(default=[], validation_alias=names, exclude_if=lambda processes: not processes)
