"""claims/*.toml: published statements, each written so that a run can confirm or contradict it. See docs/claims.md."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from touchstone.manifest.base import DocumentedAs, ManifestModel, Name

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

ContenderName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$"),
    DocumentedAs("contender (`stack/variant`)", "contenders (`stack/variant`)"),
]
"""`stack/variant`."""

LoadName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$"),
    DocumentedAs("name of a load", "names of loads"),
]
"""A load of the scenario, a mode of `hold`, or a drain such as `1000-messages`."""

UnitName = Literal[
    "ns", "us", "ms", "s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "/s", "%", "share", "count", "ratio"
]


class Term(ManifestModel):
    """What is measured: a contender's figure under a load. `"stack/variant"` alone is short for
    `{ contender = "stack/variant" }`.
    """

    contender: ContenderName
    """The contender that is measured."""
    load: LoadName | None = None
    """A load of the scenario, a mode of `hold`, or a drain such as `1000-messages`; the claim's if it is left out."""
    figure: str | None = None
    """A figure (docs/figures.md, docs/claims.md); the claim's if it is left out."""


def _named(value: Any) -> Any:
    """A term may be written as its contender's name alone."""
    return {"contender": value} if isinstance(value, str) else value


TermField = Annotated[
    Term,
    BeforeValidator(_named, json_schema_input_type=ContenderName | Term),
    DocumentedAs("contender (`stack/variant`), or a table", "contenders (`stack/variant`), or tables"),
]


class _Bounded(ManifestModel):
    at_least: float | None = None
    """The lower bound; `at_least`, `at_most` or both are given."""
    at_most: float | None = None
    """The upper bound."""

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
    """The relation."""
    of: TermField
    """What is divided."""
    to: TermField
    """The divisor."""


class DifferenceTest(_Bounded):
    """`of` minus `to` lies within the bounds, which are in `unit`."""

    kind: Literal["difference"]
    """The relation."""
    of: TermField
    """What is subtracted from."""
    to: TermField
    """What is subtracted."""
    unit: UnitName
    """The unit of the bounds; it must be of the figure's kind."""


class ValueTest(_Bounded):
    """Each of `of` lies within the bounds, which are in `unit`."""

    kind: Literal["value"]
    """The relation."""
    of: Annotated[list[TermField], Field(min_length=1)]
    """All that must lie within the bounds."""
    unit: UnitName
    """The unit of the bounds; it must be of the figure's kind."""


class OrderTest(ManifestModel):
    """Each of `of` is lower than the next by more than `margin`."""

    kind: Literal["order"]
    """The relation."""
    of: Annotated[list[TermField], Field(min_length=2)]
    """What is put in order, the lowest first."""
    margin: Annotated[float, Field(ge=0)] = 0.0
    """By how much each must be lower than the next, as a share: 0.05 is 5 %."""


class EqualityTest(ManifestModel):
    """`of` and `to` differ by no more than the share `margin`, either way."""

    kind: Literal["equality"]
    """The relation."""
    of: TermField
    """One side."""
    to: TermField
    """The other side."""
    margin: Annotated[float, Field(gt=0)]
    """By how much they may differ either way, as a share: 0.05 is 5 %."""


class EventTest(ManifestModel):
    """Something happens to each of `of`, or does not.

    `dies`, `lives`, `keeps-rate` and `fills` are about a memory limit, and are read from the floor search; `finding`
    asks whether one of the judge's findings in `findings` fired on the contender under the claim's load.
    """

    kind: Literal["event"]
    """The relation."""
    event: Literal["dies", "lives", "keeps-rate", "fills", "finding"]
    """What happens."""
    of: Annotated[list[TermField], Field(min_length=1)]
    """All to which it must happen."""
    limit: Annotated[float, Field(gt=0)] | None = None
    """The memory limit under which it happens; all events but `finding` need it."""
    unit: UnitName | None = None
    """The unit of `limit`, one of bytes, such as `MiB`."""
    findings: list[str] = []
    """Codes of findings (docs/findings.md); the event `finding` needs them, and no other has them."""
    occurs: bool = True
    """Whether the claim says that one of `findings` fires; if not, that none does."""

    @model_validator(mode="after")
    def _is_whole(self) -> EventTest:
        if self.event == "finding":
            if not self.findings or self.limit is not None or self.unit is not None:
                raise ValueError("event 'finding' needs `findings`, a list of their codes, and no `limit` and `unit`")
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


class PublishedValue(ManifestModel):
    """A published number, in its own unit."""

    what: str
    """What the publication says that it is."""
    value: float
    """The number."""
    unit: UnitName = "ratio"
    """Its unit."""
    contender: ContenderName | None = None
    """The contender of the test that it belongs to; the whole test if it is left out."""


class NotTestable(ManifestModel):
    """Why no measurement can confirm the number: it measured something else."""

    reason: str
    """What the publication measured instead, in a sentence."""
    evidence: Annotated[list[str], Field(min_length=1)]
    """What shows it, a line each: the publication's own numbers, its sources."""


class ClaimExplanation(ManifestModel):
    """A contender with a defect, or a faulty load, that reproduces the published number."""

    says: str
    """The explanation, in a sentence."""
    figure: str | None = None
    """The figure; the claim's if it is left out."""
    load: LoadName | None = None
    """The load; the claim's if it is left out."""
    test: Test
    """The relation under which the published number comes about."""
    admits: list[str] = []
    """Findings that the defect itself causes; they do not disqualify its samples here."""


class PublishedConditions(ManifestModel):
    """How the number was measured, and where touchstone deviates on purpose."""

    publication: str
    """What the publication did."""
    lab: str
    """What touchstone does, and where it deviates on purpose."""


class Claim(ManifestModel):
    """One statement."""

    id: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9-]*$"),
        DocumentedAs("text of letters, digits and dashes", "texts of letters, digits and dashes"),
    ]
    """A short name, such as `A05`; no two claims of a file share one."""
    says: str
    """The statement in our own words."""
    scenario: Name | None = None
    """The scenario under which it is measured; the file's if it is left out."""
    phase: str | None = None
    """The phase that measures the figure. It follows from the figure; if it is stated, it must fit."""
    load: LoadName | None = None
    """A load of the scenario, a mode of `hold`, or a drain such as `1000-messages`, for all terms without one."""
    figure: str | None = None
    """The figure (docs/figures.md, docs/claims.md) of all terms without one."""
    test: Test | None = None
    """The condition that must hold. A claim without a test states the reason: `not_testable` or `not_measured`."""
    published: list[PublishedValue] = []
    """The numbers as they were published."""
    conditions: PublishedConditions | None = None
    """How this number was measured, if that differs from the file's `conditions`."""
    stand_in: str | None = None
    """If something else is measured instead of the published subject: what is measured, and why."""
    admits: list[str] = []
    """Findings that belong to the claim and do not disqualify a sample, such as errors if the claim counts errors."""
    not_testable: NotTestable | None = None
    """Why no measurement can confirm it."""
    not_measured: str | None = None
    """Why there is no measurement yet: the missing toolchain, contender or figure."""
    explained_by: list[ClaimExplanation] = []
    """What reproduces the published number if the test is contradicted: exhibits, loads with a fault."""
    why: bool = False
    """Whether its two contenders are profiled under its load: the page shows where their CPU per request differs."""
    background: str = ""
    """What is known about the number, for the reader."""
    references: list[str] = []
    """Sources, for the reader, a line each."""

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


class ClaimsFile(ManifestModel):
    """The whole of a claims file: an article's statements, or those about a service of one's own."""

    schema_: Literal[1] = Field(alias="schema")
    """The format version of this file."""
    name: Name
    """The file's name on the command line: `touchstone claims NAME`."""
    letter: str = ""
    """An optional short name for the command line."""
    title: str
    """Its title in tables and on pages."""
    summary: str
    """What was published, for the reader."""
    scenario: Name
    """The scenario under which the claims are measured."""
    own: bool = False
    """Whether the claims are about a service of one's own: `touchstone claims --gate` uses only such files."""
    hardware: str = ""
    """The publication's machine, as far as it says."""
    versions: str = ""
    """The publication's versions, and touchstone's next to them."""
    conditions: PublishedConditions | None = None
    """How the numbers were measured, and where touchstone deviates on purpose."""
    references: list[str] = []
    """Sources, for the reader, a line each."""
    claims: Annotated[list[Claim], Field(min_length=1)]
    """The statements."""

    @property
    def scenarios(self) -> set[str]:
        """The scenarios that the claims are about."""
        return {claim.scenario or self.scenario for claim in self.claims}

    @model_validator(mode="after")
    def _ids_differ(self) -> ClaimsFile:
        ids = [claim.id for claim in self.claims]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"claim ids stand twice: {', '.join(twice)}")
        return self
