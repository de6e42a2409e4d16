"""A sample: one measurement of one contender in one round, with the evidence for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, Field, field_validator

from touchstone.record.base import Record
from touchstone.record.boot_result import BootResult
from touchstone.record.engine import LoadResult
from touchstone.record.evidence.capacity import CapacityEvidence
from touchstone.record.evidence.drain import DrainEvidence
from touchstone.record.evidence.floor import FloorEvidence
from touchstone.record.evidence.footprint import FootprintEvidence
from touchstone.record.evidence.hold import HoldEvidence
from touchstone.record.evidence.peak import PeakResult
from touchstone.record.evidence.probe import ProbeReport
from touchstone.record.evidence.profile import ProfileEvidence
from touchstone.record.evidence.slices import SlicesEvidence
from touchstone.record.evidence.surroundings import Confinement, CpuAtEnd, LeftInWork, MachineState
from touchstone.record.evidence.train import TrainEvidence
from touchstone.record.secret import shown_job
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
    """A request and what came back: the evidence of a broken contract."""

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


class ProofOutcome(Record):
    """What a dependency said about the work."""

    says: str
    query: str
    expected: int | float | str | None
    found: int | float | str | None
    passed: bool


class WrittenFile(Record):
    """A file that was looked at again and again while it was written to."""

    looks: int = 0
    """Looks at which it had changed since the one before."""
    waiting: int = 0
    """Those of them at which changes waited for the disk, and nothing was on its way there."""


class AfterAnswers(Record):
    """What a dependency did around requests that were sent one at a time, each after the one before had its answer."""

    asked: int
    """Requests that had it do something."""
    behind: int = 0
    """After so many of them it had not yet made safe what it had done."""
    late: int = 0
    """After so many of them it was given work, or more of it, only when the answer had come."""


class DependencyState(Record):
    """A dependency around a measurement: its settings as read back, and its own counters before and after."""

    name: str
    kind: str
    settings: dict[str, Any] = {}
    """Settings that the lab asked for, as the dependency reports them."""
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
    written: dict[str, WrittenFile] = {}
    """By file, of those that a dependency in the contender's own process writes."""
    ceiling: float | None = None
    """Requests (or transactions) a second that the dependency answers by itself: its tare."""


class InstallEvidence(Record):
    """How a build came by what it depends on."""

    commands: list[list[str]] = []
    files: list[str] = []
    """Patterns of the files that the commands read; all sources if empty."""
    leaves: list[str] = []
    """What was laid into the work folder."""
    key: str = ""
    seconds: float = 0.0
    cached: bool = False
    """True if an equal installation was there already; `seconds` is what that one took."""
    measured_at: AwareDatetime | None = None


class BuildEvidence(Record):
    """How an artifact came about."""

    commands: list[list[str]] = []
    env: dict[str, str] = Field(default={}, exclude_if=lambda env: not env)
    """What the manifest sets for the build beyond the lab's own variables."""
    install: InstallEvidence | None = None
    """What this build itself installed; what its base installed stands with the base."""
    cold: bool = False
    cold_proof: list[str] = []
    """What was looked at to say that the build was cold, a line each."""
    cached: bool = False
    """True if nothing was built: key and artifact were there from before."""
    key: str = ""
    tools: dict[str, str] = {}
    builder: str | None = None
    artifacts: dict[str, int] = {}
    """Bytes by artifact: a file, a folder, or a pattern with all that it stands for."""
    cold_s: float | None = None
    """This and the next figures, up to `steal_s`, are of this build alone, without its base's; kept with the build in
    the cache.
    """
    warm_s: float | None = None
    made_again: bool = Field(default=True, exclude_if=lambda made: made)
    """False if a second build took everything for up to date, and made none of what had been taken away: it has no
    time, and what the first one left is what is measured.
    """
    cpu_s: float | None = None
    memory_peak: int | None = None
    other_cpu_s: float | None = None
    """CPU seconds of everything else on the machine during the cold build."""
    steal_s: float | None = None
    """CPU seconds that the hypervisor gave to others during the cold build."""
    prebuilt: list[str] = []
    """Artifacts in a compiled form that are, byte for byte, a file of the sources."""
    older: list[str] = []
    """What the cold build left in a compiled form with a time from before the build."""
    measured_at: AwareDatetime | None = None
    """When the figures were measured: earlier than the run if the build came from the cache."""


class GeneratorPlace(Record):
    """A machine that load comes from, and its CPUs that make it."""

    name: str
    address: str
    cpus: list[int] = []
    model: str = ""
    """Of its CPUs, in the kernel's words."""


class CountedCpus(Record):
    """How many CPUs a contender's runtime counts, by which it chooses its numbers of threads."""

    count: int
    runtime: str
    asked: bool = False
    """The runtime itself was asked, under the contender's limits; otherwise it is by a known rule of its version."""


class Placement(Record):
    """Who ran where. CPUs are those of the machine that the contender runs on."""

    server_cpus: list[int] = []
    engine_cpus: list[int] = []
    dependency_cpus: list[int] = []
    shared: list[str] = []
    """In words: what shares a CPU with what."""
    cgroup: str | None = None
    memory_limit: int | None = None
    cpu_limit: float | None = None
    """How many CPUs' time its cgroup has."""
    counted_cpus: CountedCpus | None = Field(default=None, exclude_if=lambda counted: counted is None)
    """What its runtime counts, where a CPU quota held and it is known."""
    machine: str | None = Field(default=None, exclude_if=lambda name: name is None)
    """The contender's machine, where a run had several; a round has one."""
    generators: list[GeneratorPlace] = Field(default=[], exclude_if=lambda places: not places)
    """The other machines that the load comes from; the engine's CPUs are then those that lead and watch."""


class Sample(Record):
    """One measured thing. Figures are in base units; what could not be measured says why in `not_measured`."""

    schema_: Literal["touchstone.sample/2"] = Field(default="touchstone.sample/2", alias="schema")
    id: str
    phase: str
    scenario: str
    scenario_version: int = 1
    contender: str
    """`stack/variant`, or `tare`."""
    load: str | None = None
    round: int | None = None
    """Counted from 1; None where a phase has no rounds. A tare's round is the one that it precedes."""
    position: int = 0
    """The place in the round's order."""
    started_at: AwareDatetime
    took_s: float = 0.0
    figures: dict[str, float] = {}
    not_measured: dict[str, str] = {}
    remarks: dict[str, str] = {}
    """By figure: how it was taken, where that is not what its title says."""
    failure: Failure | None = None
    placement: Placement = Placement()
    env: dict[str, str] = {}
    argv: list[str] = []
    load_spec: Annotated[dict[str, Any], AfterValidator(shown_job)] = {}
    """The load as the scenario states it."""
    result: LoadResult | None = None
    """What the engine measured, of phases that put load on. This and the next are a phase's own evidence."""
    slices: SlicesEvidence | None = None
    """The turns of a load in slices; None where the load had a whole window."""
    build: BuildEvidence | None = None
    train: TrainEvidence | None = None
    boot: BootResult | None = None
    boots_in_turn: bool = False
    """All contenders were started in turn: the nth starts of a round stand next to each other."""
    cold_boot: BootResult | None = None
    """The starts with the page cache dropped before each."""
    peak: PeakResult | None = None
    capacity: CapacityEvidence | None = None
    hold: HoldEvidence | None = None
    drain: DrainEvidence | None = None
    floor: FloorEvidence | None = None
    footprint: FootprintEvidence | None = None
    probe: ProbeReport | None = None
    profile: ProfileEvidence | None = None
    checks: list[CheckOutcome] = []
    """The contract: the verify phase's, or the short re-check after a load."""
    proofs: list[ProofOutcome] = []
    left_out: list[str] = []
    """What could not be done with a service that the lab did not start: checks, proofs, settings; a sentence each."""
    dependencies: list[DependencyState] = []
    server_exit: str | None = None
    """How the server ended if it ended before it was asked to, in words."""
    foreign_listener: str | None = None
    """Who held the port if it was not the contender's process tree."""
    stopped: str | None = None
    """How the server ended after it was asked to, in words."""
    cpu_at_end: CpuAtEnd | None = Field(default=None, exclude_if=lambda used: used is None)
    """What it used until it was told to end, and after; None where it has no cgroup of ours."""
    oom_kills: int | None = None
    """Processes of the contender that the kernel ended for want of memory."""
    log_bytes: int | None = Field(default=None, exclude_if=lambda size: size is None)
    """What its process wrote to standard output and error in all its life, under every load that was put on it."""
    log_file_bytes: int = Field(default=0, exclude_if=lambda size: size == 0)
    """What it appended to other files: to those open from the first response on, and to those of its own folder."""
    machine: MachineState | None = None
    confinement: list[Confinement] = []
    """One account for each start at which something was found."""
    artifacts: dict[str, str] = {}
    """SHA-256 of what was run, by file name."""
    left_in_work: LeftInWork = LeftInWork()
    files: dict[str, str] = {}
    """Logs and raw files, relative to the run's folder."""

    @field_validator("figures")
    @classmethod
    def _known_figures(cls, figures: dict[str, float]) -> dict[str, float]:
        unknown = [name for name in figures if name not in FIGURES]
        if unknown:
            raise ValueError(f"no such figure: {', '.join(unknown)}; figures are listed in vocabulary/figure.py")
        return figures
