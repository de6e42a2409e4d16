"""What the judge says of a claim."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from touchstone.judge.why.explanation import CpuExplanation
from touchstone.record.base import Record


class Ruling(StrEnum):
    """The verdict on a claim."""

    HOLDS = "holds"
    CONTRADICTED = "contradicted"
    EXPLAINED = "explained"
    """Contradicted by the sound contender, and reproduced by an exhibit: the cause is shown."""
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"
    NOT_TESTABLE = "not testable"


class Measurement(Record):
    """A number to compare with a claim, in base units or a ratio, with its interval."""

    label: str
    """A contender, or `a / b`."""
    contenders: list[str]
    figure: str
    load: str | None = None
    unit: str
    """A base unit of vocabulary/figure.py, `ratio`, or `event`."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    published: float | None = None
    rounds: int = 0
    runs: list[str] = []
    samples: list[str] = []
    """`run/sample`, as `touchstone explain RUN SAMPLE` takes them."""
    happened: bool | None = None
    """For an event: whether it did."""
    ruling: Ruling = Ruling.UNDECIDED
    """Holds, contradicted or undecided; not measured if there is no number."""
    suspect: str | None = None
    """Why the number must be read with care; such a number decides nothing unless it is let."""
    cold: str | None = None
    """Why the number was taken while a contender warmed up; such a number decides nothing and cannot be let."""
    sampled_low: float | None = None
    sampled_high: float | None = None
    """The interval of the measurements alone, where low and high are widened by a doubt of known size."""
    leaning: Ruling | None = None
    """What a suspect number would say."""
    more_rounds: int | None = None
    reason: str = ""


class Reproduction(Record):
    """What became of one explanation."""

    says: str
    reproduced: bool | None = None
    """None: not measured, or not decided."""
    measurements: list[Measurement] = []
    reason: str = ""


class ClaimRuling(Record):
    """A claim's verdict with all that it rests on."""

    id: str
    ruling: Ruling
    reason: str
    measurements: list[Measurement] = []
    explanations: list[Reproduction] = []
    cause: CpuExplanation | None = None
    """Where the CPU per request of its two contenders differs, if the claim asks for it and both were profiled."""
    more_rounds: int | None = None

    @property
    def measured(self) -> bool:
        """Whether there is a number or an observed event of touchstone's own."""
        return any(m.value is not None or m.happened is not None for m in self.measurements)


class ClaimsRuling(Record):
    """The verdicts on a file of claims."""

    schema_: Literal["touchstone.claims/1"] = Field(default="touchstone.claims/1", alias="schema")
    name: str
    claims: list[ClaimRuling]
    runs: list[str]
    """The runs that were looked at, the newest first."""
    confidence: float

    def count(self, ruling: Ruling) -> int:
        """How many claims have this verdict."""
        return sum(c.ruling is ruling for c in self.claims)

    @property
    def measured(self) -> int:
        """How many claims have a measurement of touchstone's own."""
        return sum(c.measured for c in self.claims)
