"""What starts leave: each of them as the engine saw it."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record
from touchstone.record.boot_result import BootRun


class BootEvidence(Record):
    """The starts of one contender in one round."""

    kind: Literal["boot"] = "boot"
    runs: list[BootRun]
    in_turn: bool = False
    """All contenders were started in turn: the nth starts of a round stand next to each other."""
    cold: list[BootRun] = []
    """The starts with the page cache dropped before each."""
