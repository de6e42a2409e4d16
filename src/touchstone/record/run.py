"""A run as a whole: its plan, its environment, its samples."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from touchstone.record.base import Record
from touchstone.record.load_spec import LoadSpec
from touchstone.record.process import Placement
from touchstone.record.sample import Sample
from touchstone.vocabulary.phase import PHASES


class ContenderPlan(Record):
    """A contender of the plan, or the reason why it cannot be measured."""

    name: str
    """`stack/variant`"""
    stack: str
    variant: str
    title: str
    language: str
    exhibit: str | None = None
    sound_twin: str | None = None
    """The contender, by its whole name, that an exhibit is put against."""
    not_measured: str | None = None
    """Which tool is missing and how to get it."""
    outside: str | None = None
    """The URL of a service that touchstone did not start: only what can be asked of it is measured."""
    tools: dict[str, str] = {}
    """The tools used, with their versions."""


def _known(phase: str) -> str:
    if phase not in PHASES:
        raise ValueError(f"there is no phase {phase!r}")
    return phase


class Plan(Record):
    """What the run set out to do."""

    schema_: Literal["touchstone.plan/1"] = Field(default="touchstone.plan/1", alias="schema")
    run_id: str
    scenario: str
    scenario_version: int
    scenario_title: str
    profile: str
    phases: list[Annotated[str, AfterValidator(_known)]]
    loads: list[str]
    load_specs: dict[str, LoadSpec] = {}
    rounds: int
    seed: int
    orders: list[list[str]]
    """The order of the contenders in each round."""
    contenders: list[ContenderPlan]
    baseline: str | None = None
    """The stack against which the others are put, or a contender by its whole name; `baseline_among` finds it."""
    placement: Placement = Placement()
    command: list[str] = []
    margin: float = Field(default=0.05, gt=0, le=10)
    """The least effect that matters, as a share."""
    confidence: float = Field(default=0.95, ge=0.5, lt=1)
    slice_s: float | None = None
    """How long a contender's turn is, in seconds, where the user said so."""
    twin: str | None = Field(default=None, exclude_if=lambda name: name is None)
    """The contender that is a second copy of the baseline, by which a gate checks itself; None without one."""
    whole_windows: bool = False
    """Each contender was to be loaded by itself, without slices."""

    def called(self, name: str | None, among: Collection[str]) -> str | None:
        """Return the contender with this name or stack. A normal contender takes precedence over an exhibit."""
        return next((one for one in self._sound_first(among) if name in (one, one.split("/", 1)[0])), None)

    def baseline_among(self, measured: Collection[str]) -> str | None:
        """Return the baseline: the plan's, or the first contender. An exhibit only if all are exhibits."""
        return self.called(self.baseline, measured) or next(iter(self._sound_first(measured)), None)

    def _sound_first(self, among: Collection[str]) -> list[str]:
        """These in the plan's order, exhibits last."""
        exhibits = {contender.name for contender in self.contenders if contender.exhibit}
        names = [contender.name for contender in self.contenders if contender.name in among]
        return sorted([*names, *sorted(set(among) - set(names))], key=exhibits.__contains__)


class Environment(Record):
    """The machine and the tools: two runs are compared only where these agree."""

    schema_: Literal["touchstone.environment/1"] = Field(default="touchstone.environment/1", alias="schema")
    cpu_model: str = ""
    cpus: int = 0
    """How many CPUs touchstone could use."""
    machine_cpus: int | None = None
    """How many CPUs the machine had."""
    cpu_quota: float | None = None
    """The CPUs' worth of time that touchstone had, contenders included; None for no quota."""
    cpu_quota_of: str | None = None
    """The folder of the cgroup that has the quota."""
    memory: int = 0
    swap: int = 0
    kernel: str = ""
    os: str = ""
    virtualisation: str | None = None
    governor: str | None = None
    frequency_mhz: list[float] = []
    clocksource: str | None = None
    cgroups: str = ""
    file_limit: int = 0
    limits: dict[str, str] = {}
    tools: dict[str, str] = {}
    engine_version: str = ""
    engine_sha256: str = ""
    touchstone_version: str = ""
    git_revision: str | None = None
    git_dirty: bool | None = None
    load_average: list[float] = []


class Run(Record):
    """A run: plan, environment and samples."""

    plan: Plan
    environment: Environment
    samples: list[Sample]
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    interrupted: bool = False
    notes: list[str] = []

    @property
    def took_s(self) -> float | None:
        """Return the run's duration in seconds. None if it has not ended."""
        return (self.ended_at - self.started_at).total_seconds() if self.ended_at else None

    def against(self, baseline: str | None) -> Run:
        """Return the run with another baseline, or with its own if None."""
        if baseline is None:
            return self
        return self.model_copy(update={"plan": self.plan.model_copy(update={"baseline": baseline})})
