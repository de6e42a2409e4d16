"""A sample: one measurement of one contender in one round, with the evidence for it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar, overload

from pydantic import AwareDatetime, Field, field_validator, model_validator

from touchstone.record.base import Record
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.boot import BootEvidence
from touchstone.record.evidence.bounds import BoundsEvidence
from touchstone.record.evidence.build import BuildEvidence
from touchstone.record.evidence.capacity import CapacityEvidence
from touchstone.record.evidence.disturb import DisturbEvidence
from touchstone.record.evidence.drain import DrainEvidence
from touchstone.record.evidence.floor import FloorEvidence
from touchstone.record.evidence.footprint import FootprintEvidence
from touchstone.record.evidence.hold import HoldEvidence
from touchstone.record.evidence.load import LoadEvidence
from touchstone.record.evidence.peak import PeakEvidence
from touchstone.record.evidence.probe import ProbeReport
from touchstone.record.evidence.profile import ProfileEvidence
from touchstone.record.evidence.slices import Slice, SlicesEvidence
from touchstone.record.evidence.stop import StopEvidence
from touchstone.record.evidence.surroundings import MachineState
from touchstone.record.evidence.tail import TailEvidence
from touchstone.record.evidence.train import TrainEvidence
from touchstone.record.load_spec import LoadSpec
from touchstone.record.process import Process
from touchstone.record.upgrade import upgraded
from touchstone.vocabulary.figure import FIGURES

TARE = "tare"
"""The contender name of the null server."""


class Failure(Record):
    """Why a phase could not be carried out."""

    what: str
    where: str | None = None
    fix: str | None = None
    tail: list[str] = []
    """The last lines of the log."""


class Exchange(Record):
    """A request and its response: the evidence of a broken contract."""

    request: str
    expected: str
    received: str


class CheckOutcome(Record):
    """One check of the contract."""

    id: str
    says: str
    passed: bool
    broken: list[Exchange] = []
    longest_s: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """What the slowest of the requests took that were sent once; None where none was."""
    tries: int = Field(default=1, exclude_if=lambda count: count == 1)
    """How often it was made: again where only a bound on a count was not kept, which a busy machine may bring about."""
    ran: list[str] = Field(default=[], exclude_if=lambda names: not names)
    """The processes that used most of the machine while it was tried again and broke each time, each with its share."""


class MixedAnswer(Record):
    """A response during a load that is right for a key other than the requested one."""

    target: str
    received: str
    """The beginning of its body."""
    fits: str
    """The key for which the service gives this response at rest."""


class ProofOutcome(Record):
    """The result of a proof: the work that a dependency counted."""

    says: str
    query: str
    expected: int | float | str | None
    found: int | float | str | None
    passed: bool


class WrittenFile(Record):
    """Repeated observations of a file that is being written."""

    looks: int = 0
    """Looks at which it had changed since the one before."""
    waiting: int = 0
    """Looks at which changes waited for the disk, and nothing was on its way there."""


class AfterAnswers(Record):
    """Activity of a dependency around single requests that are sent one at a time."""

    asked: int
    """Requests that had it do something."""
    behind: int = 0
    """Number of requests after which its work was not yet safe on disk."""
    late: int = 0
    """Number of requests whose work started or continued after the response."""


class DependencyState(Record):
    """A dependency around a measurement: its settings as read back, and its own counters before and after."""

    name: str
    kind: str
    settings: dict[str, Any] = {}
    """Settings that touchstone asked for, as the dependency reports them."""
    asked: dict[str, Any] = {}
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    cpu_s: float | None = None
    """CPU seconds over the whole load, its warm-up included; None if it runs in the contender's own process, and where
    contenders are loaded in turn: there the engine counts it, turn by turn.
    """
    cpus: list[int] = []
    sessions_peak: int | None = None
    leftovers: list[str] = []
    """State that was there before the contender started, and should not have been."""
    after_answers: AfterAnswers | None = Field(default=None, exclude_if=lambda seen: seen is None)
    """None where nobody looked."""
    structure: dict[str, list[str]] = Field(default={}, exclude_if=lambda tables: not tables)
    """By table, after the load: its indexes, triggers and ways of storage, in the dependency's words without names."""
    written: dict[str, WrittenFile] = {}
    """By file, of those that a dependency in the contender's own process writes."""
    ceiling: float | None = None
    """Requests (or transactions) a second that the dependency answers by itself: its tare."""


Evidence = Annotated[
    BuildEvidence
    | TrainEvidence
    | BootEvidence
    | LoadEvidence
    | PeakEvidence
    | CapacityEvidence
    | HoldEvidence
    | DisturbEvidence
    | DrainEvidence
    | StopEvidence
    | BoundsEvidence
    | FloorEvidence
    | FootprintEvidence
    | ProbeReport
    | ProfileEvidence
    | TailEvidence,
    Field(discriminator="kind"),
]
Kind = TypeVar("Kind", bound=Record)


class _Of(Generic[Kind]):
    """A sample's evidence, where it is of one kind."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind = kind

    @overload
    def __get__(self, sample: None, owner: object) -> Self: ...
    @overload
    def __get__(self, sample: Sample, owner: object) -> Kind | None: ...
    def __get__(self, sample: Sample | None, owner: object) -> Self | Kind | None:
        if sample is None:
            return self
        return sample.evidence if isinstance(sample.evidence, self._kind) else None


class Sample(Record):
    """One measurement: the process, the evidence, and the figures in base units."""

    schema_: Literal["touchstone.sample/3"] = Field(default="touchstone.sample/3", alias="schema")
    id: str
    phase: str
    scenario: str
    scenario_version: int = 1
    contender: str
    """`stack/variant`, or `tare`."""
    load: str | None = None
    spec: LoadSpec = Field(default=LoadSpec(), exclude_if=lambda spec: spec == LoadSpec())
    """What the load is."""
    round: int | None = None
    """Counted from 1; None where a phase has no rounds. A tare's round is the one that it precedes."""
    position: int = 0
    """The place in the round's order."""
    started_at: AwareDatetime
    took_s: float = 0.0
    process: Process = Process()
    evidence: Evidence | None = None
    """What the phase measured, raw; None where the phase has none of its own, or failed."""
    figures: dict[str, float] = {}
    not_measured: dict[str, str] = {}
    """By figure: why it could not be measured."""
    remarks: dict[str, str] = {}
    """By figure: how it was taken, where that is not what its title says."""
    failure: Failure | None = None
    checks: list[CheckOutcome] = []
    """The contract: the verify phase's, or the short re-check after a load."""
    checks_in_load: list[CheckOutcome] = Field(default=[], exclude_if=lambda checks: not checks)
    """Checks of the contract that were made inside the load, on its connections."""
    mixed_answers: list[MixedAnswer] = Field(default=[], exclude_if=lambda answers: not answers)
    """Responses to single keys inside the load that were those of other keys."""
    asked_in_load: int = Field(default=0, exclude_if=lambda count: not count)
    """Requests of those checks, and of keys. The load's own counts do not hold them; counters of dependencies do."""
    proofs: list[ProofOutcome] = []
    left_out: list[str] = []
    """Checks and proofs that could not be made of a service that touchstone did not start; a sentence each."""
    dependencies: list[DependencyState] = []
    machine: MachineState | None = None
    files: dict[str, str] = {}
    """Raw files other than the process's log, relative to the run's folder."""

    build: ClassVar[_Of[BuildEvidence]] = _Of(BuildEvidence)
    train: ClassVar[_Of[TrainEvidence]] = _Of(TrainEvidence)
    boot: ClassVar[_Of[BootEvidence]] = _Of(BootEvidence)
    peak: ClassVar[_Of[PeakEvidence]] = _Of(PeakEvidence)
    capacity: ClassVar[_Of[CapacityEvidence]] = _Of(CapacityEvidence)
    hold: ClassVar[_Of[HoldEvidence]] = _Of(HoldEvidence)
    disturb: ClassVar[_Of[DisturbEvidence]] = _Of(DisturbEvidence)
    drain: ClassVar[_Of[DrainEvidence]] = _Of(DrainEvidence)
    stop: ClassVar[_Of[StopEvidence]] = _Of(StopEvidence)
    bounds: ClassVar[_Of[BoundsEvidence]] = _Of(BoundsEvidence)
    floor: ClassVar[_Of[FloorEvidence]] = _Of(FloorEvidence)
    footprint: ClassVar[_Of[FootprintEvidence]] = _Of(FootprintEvidence)
    probe: ClassVar[_Of[ProbeReport]] = _Of(ProbeReport)
    profile: ClassVar[_Of[ProfileEvidence]] = _Of(ProfileEvidence)
    tail: ClassVar[_Of[TailEvidence]] = _Of(TailEvidence)

    @property
    def result(self) -> LoadResult | None:
        """What the engine measured of a load."""
        return self.evidence.result if isinstance(self.evidence, LoadEvidence | PeakEvidence) else None

    @property
    def slices(self) -> SlicesEvidence | None:
        """Return the slices of a load. None for a whole window."""
        return self.evidence.slices if isinstance(self.evidence, LoadEvidence) else None

    @property
    def counted_slices(self) -> list[Slice]:
        """Return the measured slices. Empty for a whole window."""
        return self.slices.counted if self.slices else []

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, data: Any) -> Any:
        return upgraded(data) if isinstance(data, dict) else data

    @field_validator("figures")
    @classmethod
    def _known_figures(cls, figures: dict[str, float]) -> dict[str, float]:
        unknown = [name for name in figures if name not in FIGURES]
        if unknown:
            raise ValueError(f"no such figure: {', '.join(unknown)}; figures are listed in vocabulary/figure.py")
        return figures
