"""What the report reads from a sample's `detail`: the phases without types of their own, each part optional.

A detail that does not fit is not drawn; its figures still stand in the tables.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from touchstone.record.base import Record
from touchstone.record.sample import Sample


class HoldLevel(Record):
    """Memory with a number of connections open. Bytes."""

    connections: int
    rss: int | None = None
    anon: int | None = None
    kernel: int | None = None


class Hold(Record):
    """`detail["hold"]`: one entry a level."""

    levels: list[HoldLevel]


class FloorTry(Record):
    """One memory limit that was tried. Bytes, requests a second, seconds."""

    limit: int
    setting: str = ""
    lives: bool
    passes: bool
    rate: float | None = None
    p99: float | None = None


class Floor(Record):
    """`detail["floor"]`: one entry a limit and heap setting."""

    tries: list[FloorTry]


class DrainPoint(Record):
    """Messages done at a moment, in seconds since exec."""

    t: float
    done: int


class Drain(Record):
    """`detail["drain"]`: what was consumed over time; its totals are the judge's to read."""

    progress: list[DrainPoint] = []
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0


class ProbeCase(Record):
    """One conformance case, as the engine's probe reports it."""

    id: str
    category: str
    section: str
    level: str
    why: str = ""
    verdict: str
    reason: str | None = None
    observed: str | None = None


class Probe(Record):
    """`detail["probe"]`: the engine's report (`touchstone.probe/1`)."""

    cases: list[ProbeCase]


_Detail = TypeVar("_Detail", bound=Record)


def read(sample: Sample, key: str, shape: type[_Detail]) -> _Detail | None:
    """A part of a sample's detail; None if it is not there or has another shape."""
    recorded = sample.detail.get(key)
    if recorded is None:
        return None
    try:
        return shape.model_validate(recorded)
    except ValidationError:
        return None
