"""The engine's report on conformance (`touchstone.probe/2`): requirements of the RFCs, and their cases."""

from __future__ import annotations

from typing import Literal

from touchstone.record.base import Record

Level = Literal["MUST", "SHOULD", "MAY"]
Risk = Literal["dangerous", "breaks", "unclear", "other"]
"""What a breach does to others: accepted what must be refused, refused what must work, refused without the right
status, anything else."""
RequirementStanding = Literal["broken", "inconclusive", "kept", "not_applicable"]


class RequirementCounts(Record):
    """How many requirements of one level stand how; `broken` is the sum of the four risks."""

    total: int
    kept: int
    broken: int
    dangerous: int
    breaks: int
    unclear: int
    other: int
    inconclusive: int
    not_applicable: int


class ProbeRequirement(Record):
    """One sentence of an RFC and what became of its cases."""

    id: str
    section: str
    level: Level
    says: str
    standing: RequirementStanding
    risk: Risk | None = None
    """The gravest among its wrong cases."""
    played: int
    wrong: int
    cases: list[str]


class ProbeCase(Record):
    """One conformance case."""

    id: str
    requirement: str
    why: str = ""
    verdict: Literal["right", "tolerated", "wrong", "crash", "inconclusive", "not_applicable"]
    reason: str | None = None
    observed: str | None = None
    """What the server did, in words."""


class ProbePost(Record):
    """The resource that takes a body."""

    target: str
    refused: str | None = None
    """Why the cases that need it were not played, if they were not."""


class Refused(Record):
    """The service began to refuse plain requests."""

    after: str
    """The case after which that showed."""
    what: str
    """What a plain GET got, such as `a plain GET was answered 429 in place of 200`."""


class ProbeReport(Record):
    """One pass over all cases."""

    kind: Literal["probe"] = "probe"
    protocol: Literal["h1", "h2c", "h2"] = "h1"
    """What was spoken. Reports of HTTP/1.1 alone had no such field."""
    target: str
    post: ProbePost | None = None
    died_in: str | None = None
    """The case in which the server stopped listening; those after it were not played."""
    refused: Refused | None = None
    """Set where the service stopped answering plain requests as before; later cases are inconclusive."""
    left_out: int = 0
    """Cases that send a method which may change data, on a service that touchstone did not start."""
    kept: dict[Level, RequirementCounts]
    requirements: list[ProbeRequirement]
    cases: list[ProbeCase]
