"""What a load leaves: the engine's result, and of a load in slices each turn."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.slices import SlicesEvidence


class LoadEvidence(Record):
    """One load on one contender, or on the null server."""

    kind: Literal["load"] = "load"
    result: LoadResult | None = None
    """What the engine measured; None until the load is over."""
    slices: SlicesEvidence | None = None
    """The turns of a load in slices; None where the load had a whole window."""
