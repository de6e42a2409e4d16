"""claims/*.toml: published statements, each written so that a run can confirm or contradict it. See docs/claims.md."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from touchstone.manifest.base import Name, Part

UNITS: dict[str, tuple[str, float]] = {
    "ns": ("s", 1e-9),
    "us": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "B": ("B", 1.0),
    "kB": ("B", 1e3),
    "MB": ("B", 1e6),
    "GB": ("B", 1e9),
    "KiB": ("B", 1024.0),
    "MiB": ("B", 1024.0**2),
    "GiB": ("B", 1024.0**3),
    "/s": ("1/s", 1.0),
    "%": ("share", 0.01),
    "share": ("share", 1.0),
    "count": ("count", 1.0),
    "ratio": ("ratio", 1.0),
}
"""Units that a claim may use: the base unit, and how many of it one of them is."""

ContenderName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$")]
"""`stack/variant`."""

LoadName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
"""A load of the scenario, a mode of `hold`, or a drain such as `1000-messages`."""

UnitName = Literal[
    "ns", "us", "ms", "s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "/s", "%", "share", "count", "ratio"
]


class Term(Part):
    """What is measured: a contender's figure under a load. Load and figure are the claim's where they are left out."""

    contender: ContenderName
    load: LoadName | None = None
    figure: str | None = None


def _named(value: Any) -> Any:
    """A term may be written as its contender's name alone."""
    return {"contender": value} if isinstance(value, str) else value


TermField = Annotated[Term, BeforeValidator(_named)]


class _Bounded(Part):
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> _Bounded:
        if self.at_least is None and self.at_most is None:
            raise ValueError("the relation has no bound: give `at_least`, `at_most`, or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"`at_least` {self.at_least} is above `at_most` {self.at_most}: nothing could hold")
        return self


class RatioTest(_Bounded):
    """`of` divided by `to` lies within the bounds."""

    kind: Literal["ratio"]
    of: TermField
    to: TermField


class DifferenceTest(_Bounded):
    """`of` minus `to` lies within the bounds, which are in `unit`."""

    kind: Literal["difference"]
    of: TermField
    to: TermField
    unit: UnitName


class ValueTest(_Bounded):
    """Each of `of` lies within the bounds, which are in `unit`."""

    kind: Literal["value"]
    of: Annotated[list[TermField], Field(min_length=1)]
    unit: UnitName


class OrderTest(Part):
    """Each of `of` is lower than the next by more than `margin`."""

    kind: Literal["order"]
    of: Annotated[list[TermField], Field(min_length=2)]
    margin: Annotated[float, Field(ge=0)] = 0.0


class EqualityTest(Part):
    """`of` and `to` differ by no more than the share `margin`, either way."""

    kind: Literal["equality"]
    of: TermField
    to: TermField
    margin: Annotated[float, Field(gt=0)]


class EventTest(Part):
    """Something happens to each of `of`, or does not.

    `dies`, `lives` and `keeps-rate` are about a memory limit, and are read from the floor search; `finding` asks
    whether one of the judge's findings in `findings` fired on the contender under the claim's load.
    """

    kind: Literal["event"]
    event: Literal["dies", "lives", "keeps-rate", "finding"]
    of: Annotated[list[TermField], Field(min_length=1)]
    limit: Annotated[float, Field(gt=0)] | None = None
    unit: UnitName | None = None
    findings: list[str] = []
    occurs: bool = True
    """Whether the claim says that one of `findings` fires, or that none does."""

    @model_validator(mode="after")
    def _is_whole(self) -> EventTest:
        if self.event == "finding":
            if not self.findings or self.limit is not None:
                raise ValueError("event 'finding' needs `findings`, a list of their codes, and no `limit`")
        elif self.limit is None or self.unit is None or UNITS[self.unit][0] != "B":
            raise ValueError(f'event {self.event!r} needs `limit` and its `unit`, a unit of bytes such as "MiB"')
        elif self.findings or not self.occurs:
            raise ValueError(
                f"event {self.event!r} takes neither `findings` nor `occurs`; its opposite is an event too"
            )
        return self


Test = Annotated[
    RatioTest | DifferenceTest | ValueTest | OrderTest | EqualityTest | EventTest, Field(discriminator="kind")
]


class Published(Part):
    """A published number, in its own unit. With `contender` it belongs to that term; a ratio has the unit "ratio"."""

    what: str
    value: float
    unit: UnitName = "ratio"
    contender: ContenderName | None = None


class NotTestable(Part):
    """Why no measurement can confirm the number: it measured something else."""

    reason: str
    evidence: Annotated[list[str], Field(min_length=1)]
    """What shows it, a line each: the publication's own numbers, its sources."""


class Explanation(Part):
    """A contender with the defect, or a load with the fault, under which the published number comes about."""

    says: str
    figure: str | None = None
    load: LoadName | None = None
    test: Test
    admits: list[str] = []
    """Findings that the defect itself causes; they do not disqualify its samples here."""


class Conditions(Part):
    """How the number was come by, and where the lab departs from it on purpose."""

    publication: str
    lab: str


class Claim(Part):
    """One statement."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]*$")]
    says: str
    """The statement in our own words."""
    scenario: Name | None = None
    """The file's where it is left out."""
    phase: str | None = None
    """May be stated; it must be the figure's."""
    load: LoadName | None = None
    figure: str | None = None
    test: Test | None = None
    published: list[Published] = []
    conditions: Conditions | None = None
    """Only what differs from the file's conditions."""
    stand_in: str | None = None
    """If something else is measured in place of what was published about: what, and why."""
    admits: list[str] = []
    """Findings that belong to what is claimed and do not disqualify a sample: errors, where errors are counted."""
    not_testable: NotTestable | None = None
    not_measured: str | None = None
    """Why the lab has no measurement for it yet: which toolchain, contender or figure is missing."""
    explained_by: list[Explanation] = []
    why: bool = False
    """Whether its two contenders are profiled under its load: the page shows where their CPU per request differs."""
    background: str = ""
    """What is known about the number, for the reader."""
    references: list[str] = []

    @model_validator(mode="after")
    def _says_how(self) -> Claim:
        if self.test is None and self.not_testable is None and self.not_measured is None:
            raise ValueError("the claim has no `test`, and says neither `not_testable` nor `not_measured`")
        if self.test is not None and self.not_measured is not None:
            raise ValueError("the claim has a `test` and says `not_measured`: leave one of them out")
        if self.explained_by and self.test is None:
            raise ValueError("`explained_by` explains a contradiction, and without a `test` there is none")
        if self.why and self.test is None:
            raise ValueError("`why` is about the contenders of a `test`, and there is none")
        return self


class ClaimsFile(Part):
    """The whole of a claims file: an article's statements, or those about a service of one's own."""

    schema_: Literal[1] = Field(alias="schema")
    name: Name
    """As on the command line: `touchstone claims NAME`."""
    letter: str = ""
    """A short name, where there is one."""
    title: str
    summary: str
    scenario: Name
    own: bool = False
    """True for claims about a service of one's own: `--gate` ends with code 3 if one of them is contradicted."""
    hardware: str = ""
    """The publication's machine, as far as it says."""
    versions: str = ""
    """The publication's versions, and the lab's next to them."""
    conditions: Conditions | None = None
    references: list[str] = []
    claims: Annotated[list[Claim], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_differ(self) -> ClaimsFile:
        ids = [claim.id for claim in self.claims]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"claim ids stand twice: {', '.join(twice)}")
        return self
