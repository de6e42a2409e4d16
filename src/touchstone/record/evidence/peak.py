"""What a start under load left behind: when the load began after exec, and what had been served by each second."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record
from touchstone.record.engine import LoadResult


class PeakEvidence(Record):
    """Times in seconds since exec."""

    kind: Literal["peak"] = "peak"
    load: str
    """Which of the scenario's loads was put on."""
    within_s: float
    """How long it was watched."""
    ready_s: float
    """When touchstone had seen the first correct response; it asks every 20 ms."""
    load_begins_s: float
    """When the first request of the load was due: zero of the series in `result`."""
    served: list[int]
    """Correct responses in total by the end of each second: the first entry by 1 s, the last by `within_s`."""
    result: LoadResult
