"""The one way to run: a request in, a folder of records out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from touchstone.bench.base import MeasurementOptions
from touchstone.bench.outside import inspect_outside
from touchstone.check.folder import refuse_problems
from touchstone.failure import UsageError
from touchstone.judge.judgement import Comparison
from touchstone.manifest.catalogue import (
    ScenarioFolder,
    outside_contenders,
    read_scenario_folder,
    select_contenders,
)
from touchstone.manifest.outside import ExternalService
from touchstone.phase.registry import select_phases
from touchstone.plan.plan import RunRequest, make_plan, over_tls, planned_loads, with_objective, with_tls
from touchstone.plan.preset import PROFILES
from touchstone.record.run import Plan, Run
from touchstone.record.store import RunStore, new_run_folder
from touchstone.run.conductor import Conductor
from touchstone.run.permitted import refuse_impossible_limits
from touchstone.run.progress import Display, LogDisplay
from touchstone.run.sequential import SequentialRounds, headline_open
from touchstone.run.stopping_rule import PlannedRounds, StoppingRule


@dataclass(frozen=True, kw_only=True)
class RunConditions(MeasurementOptions):
    """Settings of a run that do not change what is measured, such as the results folder."""

    results: Path = Path("results")
    """The run's folder is made in here, by the name of its id."""
    folder: Path | None = None
    """The run's own folder, where it is to be another."""
    display: Display | None = None
    """Sees the progress; nobody does without one."""
    until_decided_s: float = 0.0
    """Go on past the rounds until every comparison is decided, for this time at most."""
    spend_s: float = 0.0
    """Go on past the rounds until this time is spent; laps and rounds are chosen by their cost and their use."""
    still_open: Callable[[Comparison], bool] = headline_open
    """Whether a comparison still has to be decided: the undecided headline figures, if nothing else is said."""
    enough: Callable[[Run], bool] | None = None
    """Asked after each round from the second on whether the plan's further rounds can be left out."""
    notes: Sequence[str] = ()
    """What every report is to say of the run."""
    begun: Callable[[Plan], None] = lambda _plan: None
    """Called with the plan before the first measurement."""
    after_round: Callable[[Run], None] = lambda _run: None
    """Called with the run as far as it is after each round but the first and the last."""
    all_or_none: bool = False
    """What is asked is how the contenders differ: if one cannot be built or breaks its contract, none is loaded."""


def measure(
    scenario: Path | ScenarioFolder,
    request: RunRequest | None = None,
    *,
    stacks: Sequence[str] = (),
    outside: Sequence[ExternalService] = (),
    conditions: RunConditions | None = None,
) -> RunStore:
    """Measure a scenario: build, check, and carry out the phases of the request.

    Args:
        scenario: its folder, or what was read from there.
        request: preset, rounds, phases, loads; the preset `normal` if not given.
        stacks: `stack` or `stack/variant`; the usual ones if none is named, and no service that runs already.
        outside: services that run already, put next to the stacks that are named.
        conditions: where results go, who sees the progress.

    Returns:
        The store of the run; `load_run(store.folder)` reads it back. Ctrl-C and SIGTERM end a run early: what was
        measured is kept, and the run says `interrupted`.

    Raises:
        TouchstoneError: the request names something unknown, a manifest is wrong, or a dependency does not start.

    """
    request, conditions = request or RunRequest(), conditions or RunConditions()
    folder = read_scenario_folder(scenario) if isinstance(scenario, Path) else scenario
    if request.objective is not None:
        folder = with_objective(folder, request.objective)
    if outside and conditions.cpu_limit is not None:
        raise UsageError(
            "touchstone cannot limit the CPUs of services that it does not start",
            fix="leave --cpus out, and limit them where they are started",
        )
    folder = with_tls(over_tls(folder, outside), request.tls)
    contenders = outside_contenders(folder, outside)
    if stacks or not outside:
        contenders = select_contenders(folder, list(stacks), exhibits=request.exhibits) + contenders
    refuse_problems(folder, {contender.stack.name for contender in contenders})
    phases = select_phases(folder.scenario, request.phases, all_outside=all(c.outside for c in contenders))
    for service in outside:
        inspect_outside(service)
    plan = make_plan(folder, contenders, request, [phase.kind.name for phase in phases], conditions.generators.places)
    loads = planned_loads(folder, request)
    refuse_impossible_limits(conditions.cpu_limit, request, loads, contenders, plan)
    store = RunStore(conditions.folder or new_run_folder(conditions.results, plan.run_id))
    if conditions.folder is None:
        plan.run_id = store.folder.name
    conditions.begun(plan)
    display = conditions.display or LogDisplay(Console(quiet=True))
    conductor = Conductor(
        folder,
        plan,
        phases,
        contenders,
        loads,
        store,
        display,
        replace(conditions, drain_exhibits=request.exhibits or conditions.drain_exhibits),
        _ending(plan, request, conditions),
        notes=list(conditions.notes),
        after_round=conditions.after_round,
        all_or_none=conditions.all_or_none,
    )
    with display:
        conductor.carry_out()
    return store


def _ending(plan: Plan, request: RunRequest, conditions: RunConditions) -> StoppingRule:
    """Return the stopping rule. A requested number of rounds is measured without a time limit."""
    if seconds := conditions.until_decided_s or conditions.spend_s:
        return SequentialRounds(plan, seconds, spend=bool(conditions.spend_s), still_open=conditions.still_open)
    profile = PROFILES[plan.profile]
    most_s = profile.rounds_s if request.rounds is None else math.inf
    return PlannedRounds(plan, most_s, profile.laps, conditions.enough)
