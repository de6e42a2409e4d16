"""The results of another benchmark, as `touchstone import` keeps them for `touchstone site`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, FiniteFloat, ValidationError

from touchstone.failure import UsageError
from touchstone.record.base import Record

PUBLISHED_FILE = "published.json"


class PublishedFigure(Record):
    """A figure of an entry under one test, in base units: one value for each file that measured it."""

    entry: str
    test: str
    figure: Literal["throughput", "latency_p99", "cpu_per_request"]
    values: list[FiniteFloat] = Field(min_length=1)
    verdict: Literal["valid", "suspect", "invalid"] = "valid"
    """What an audit of the files makes of it."""


class PublishedFigures(Record):
    """Published figures of one benchmark on one machine."""

    schema_: Literal["touchstone.published/1"] = Field(default="touchstone.published/1", alias="schema")
    benchmark: str
    files: list[str]
    measured_at: datetime | None = None
    """When the newest of the results was measured; None where the files do not say."""
    machine: str | None = None
    """The benchmark's name for its machine; None where the files do not say."""
    figures: list[PublishedFigure]


def load_published(path: Path) -> PublishedFigures:
    """Read what an import wrote. Raises UsageError if it cannot be read."""
    fix = "import the result files again"
    try:
        return PublishedFigures.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"is not what an import writes: {place}: {first['msg']}", where=str(path), fix=fix) from error
