"""Capacities under CPU quotas and memory limits, and each contender's smallest sufficient container.

Each is a run like any other, with records and a report of its own: one of the phase `capacity` for each quota under
each limit. Where no limits are named, the smallest that serves is searched: a run of the phase `floor` for each quota
that was chosen, under an open loop at the rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from touchstone.failure import UsageError
from touchstone.judge.judge import judge
from touchstone.judge.judgement import Finding, Judgement, Severity
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.condition import PERCENTILES
from touchstone.manifest.load import Load
from touchstone.manifest.objective import BEYOND, Objective, parse_objective
from touchstone.manifest.scenario import Floor
from touchstone.phase.capacity.trial import LONGEST_S, lowest_rate, open_loop
from touchstone.plan.plan import RunRequest, with_objective
from touchstone.record.run import Run
from touchstone.record.store import load_run
from touchstone.report import render
from touchstone.report.view import View
from touchstone.run.measure import RunConditions, measure
from touchstone.sizing.price import Prices

KEPT = 0.99
"""The share of the rate that a memory limit must leave: an open loop whose rate is not kept has a growing queue."""
_LOAD = "at-the-rate"
_SEARCHED = {"capacity", "floor_passes"}


@dataclass(frozen=True)
class Demand:
    """What is to be served: requests per second, within an objective, under one of the scenario's loads."""

    rate: float
    objective: str
    load: str
    prices: Prices


@dataclass
class SizedContainer:
    """One contender under one CPU quota, and perhaps one memory limit. Requests per second, bytes."""

    contender: str
    cpus: float
    capacity: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why there is no capacity."""
    memory: float | None = None
    """The limit that it had; where it had none the smallest that serves the rate, searched for the smallest sufficient
    quota alone."""

    counted: int | None = None
    """How many CPUs its runtime counts under this quota; None where that is unknown or no quota held."""

    def serves(self, rate: float) -> bool:
        """Whether the whole interval of its capacity lies at the rate or above."""
        least = self.low if self.low is not None else self.capacity
        return least is not None and least >= rate

    def is_settled(self, rate: float) -> bool:
        """Whether more rounds would hardly tell more: its whole interval lies on one side of the rate."""
        most = self.high if self.high is not None else self.capacity
        return self.serves(rate) or most is None or most < rate


@dataclass
class Sizing:
    """The grid, and the smallest container of each contender."""

    demand: Demand
    grid: list[SizedContainer] = field(default_factory=list)
    limited: bool = False
    """Whether memory limits were tried, and not the smallest one searched."""
    doubts: list[str] = field(default_factory=list)
    """What makes the runs' capacities and memory untrustworthy, in sentences."""

    @property
    def smallest(self) -> dict[str, SizedContainer | None]:
        """By contender: the container with the fewest CPUs, and among those the least memory, that serves the rate.

        None if none of them does.
        """
        found: dict[str, SizedContainer | None] = {}
        for one in sorted(self.grid, key=lambda container: (container.cpus, container.memory or 0.0)):
            if found.get(one.contender) is None:
                found[one.contender] = one if one.serves(self.demand.rate) else None
        return found

    @property
    def miscounts(self) -> list[str]:
        """A sentence for each contender whose runtime counts more or fewer CPUs than a quota has."""
        found: dict[str, dict[str, int]] = {}
        for one in self.grid:
            if one.counted is not None and one.counted != one.cpus:
                found.setdefault(one.contender, {})[f"{one.cpus:g}"] = one.counted
        return [
            f"{name} counts {', '.join(f'{count} under {cpus}' for cpus, count in counts.items())} CPUs, and sizes its "
            "threads by that: a step to the next whole CPU may matter more than the quota"
            for name, counts in found.items()
        ]


def demand_of(
    folder: ScenarioFolder, rate: float, objective: str | None, load: str | None, prices: Prices
) -> tuple[ScenarioFolder, Demand]:
    """What is asked, with the scenario that has its objective. Raises UsageError if it cannot be served by anything."""
    if not rate > 0:
        raise UsageError(f"--rate is {rate:g}", fix="give the requests per second that are to be served, above 0")
    if prices.cpu_hour < 0 or prices.gib_hour < 0:
        raise UsageError("a price is below 0", fix="give prices per hour, such as --price-cpu-hour 0.04")
    if objective is not None:
        folder = with_objective(folder, objective)
    capacity = folder.scenario.capacity
    if capacity is None:
        raise UsageError(
            f"scenario {folder.scenario.name} states no objective", fix="give --objective 'p99 < 50ms, errors < 0.1%'"
        )
    read = parse_objective(capacity.objective)
    if rate < lowest_rate(read):
        raise UsageError(
            f"{read.text!r} needs {read.least_requests:,} requests in a trial, and at {rate:g} per second the longest "
            f"trial, {LONGEST_S:g} s, has {rate * LONGEST_S:,.0f}",
            fix=_fix(read, rate),
        )
    name = load or next(iter(capacity.loads), None) or next(iter(folder.scenario.loads))
    if name not in folder.scenario.loads:
        known = ", ".join(folder.scenario.loads)
        raise UsageError(f"scenario {folder.scenario.name} has no load {name!r}", fix=f"there are: {known}")
    # Quotas and limits are what is asked about: a load's own would go before them.
    free = folder.scenario.loads[name].model_copy(update={"cpus": None, "memory_limit_mb": None})
    scenario = folder.scenario.model_copy(update={"loads": {**folder.scenario.loads, name: free}})
    return replace(folder, scenario=scenario), Demand(rate, read.text, name, prices)


def _fix(objective: Objective, rate: float) -> str:
    """What would make a rate that is too low for the objective's trials measurable."""
    carried = rate * LONGEST_S
    percentile = next((name for name, part in reversed(PERCENTILES.items()) if BEYOND / (1 - part) <= carried), None)
    bounded = [term for term in objective.terms if term.quantity == "errors" and not objective.implied_errors]
    ways = [f"bound {percentile} in place of a farther percentile"] if percentile else []
    if bounded and 1 / bounded[0].bound > carried:
        ways.append(f"allow errors < {1 / carried:.1%}" if carried > 2 else "leave the bound on errors out")
    ways.append(f"ask for {objective.least_requests / LONGEST_S:g} requests per second or more")
    return ", or ".join(ways)


def size(
    folder: ScenarioFolder,
    demand: Demand,
    quotas: Sequence[float],
    request: RunRequest,
    *,
    stacks: Sequence[str],
    conditions: RunConditions,
    limits_mb: Sequence[int] = (),
    until_served: bool = False,
) -> Sizing:
    """Measure the grid, then without given limits the memory of each smallest container.

    Args:
        folder: the scenario, with its objective.
        demand: what is to be served.
        quotas: CPU limits to try.
        request: preset, rounds and seed. Without rounds and prices a run ends once it knows of each contender whether
            it serves the rate.
        stacks: as for a run.
        conditions: `folder` is where the runs' folders are made in.
        limits_mb: memory limits to try under each quota, in MiB; none for a search.
        until_served: try a contender under no larger quota than the first that serves the rate.

    Raises:
        TouchstoneError: as `measure`.

    """
    assert conditions.folder is not None  # the command names one
    out, sizing = conditions.folder, Sizing(demand, limited=bool(limits_mb))
    limits: list[int | None] = [*sorted(limits_mb)] or [None]
    tried = stacks
    for cpus in sorted(quotas):
        for limit_mb in limits:
            run = _run(
                with_memory_limit(folder, demand, limit_mb),
                replace(request, phases=("capacity",), loads=(demand.load,)),
                tried,
                replace(
                    conditions,
                    folder=out / _name(cpus, limit_mb),
                    cpu_limit=cpus,
                    enough=_settled(demand.rate) if request.rounds is None and not demand.prices.given else None,
                ),
            )
            judgement = judge(run)
            sizing.grid += containers_of(run, judgement, cpus, limit_mb)
            sizing.doubts += doubts_of(judgement, _name(cpus, limit_mb))
        if until_served:
            tried = [name for name, one in sizing.smallest.items() if one is None]
            if not tried:
                break
    if sizing.limited:
        return sizing
    for cpus in sorted({one.cpus for one in sizing.smallest.values() if one}):
        chosen = {name: one for name, one in sizing.smallest.items() if one and one.cpus == cpus}
        run = _run(
            with_floor_at_rate(folder, demand),
            replace(request, phases=("floor",), loads=(_LOAD,)),
            list(chosen),
            replace(conditions, folder=out / f"memory-{cpus:g}", cpu_limit=cpus),
        )
        sizing.doubts += doubts_of(judge(run), f"memory-{cpus:g}")
        for sample in run.samples:
            if sample.phase == "floor" and sample.contender in chosen:
                chosen[sample.contender].memory = sample.figures.get("floor_passes")
    return sizing


def containers_of(run: Run, judgement: Judgement, cpus: float, limit_mb: int | None = None) -> list[SizedContainer]:
    """Each contender of a run with its capacity. The interval is that over rounds, with few rounds the rounds' own."""
    estimates = {e.contender: e for e in judgement.estimates if e.figure == "capacity"}
    found = []
    for planned in run.plan.contenders:
        one = SizedContainer(planned.name, cpus, memory=None if limit_mb is None else float(limit_mb * 2**20))
        searches = [s for s in run.samples if s.phase == "capacity" and s.contender == planned.name]
        counts = [s.process.placement.counted_cpus for s in run.samples if s.contender == planned.name]
        one.counted = next((counted.count for counted in counts if counted), None)
        estimate = estimates.get(planned.name)
        if estimate is not None and estimate.median is not None:
            own = [s.capacity for s in searches if s.capacity and "capacity" in s.figures]
            lows, highs = [c.low for c in own if c.low], [c.high for c in own if c.high]
            one.capacity = estimate.median
            one.low = estimate.low if estimate.low is not None else min(lows, default=None)
            one.high = estimate.high if estimate.high is not None else max(highs, default=None)
        else:
            failures = [s.failure.what for s in searches if s.failure]
            reasons = [reason for s in searches for reason in s.not_measured.values()]
            one.reason = next(iter([*failures, *reasons, *filter(None, [planned.not_measured])]), "not measured")
        found.append(one)
    return found


def doubts_of(judgement: Judgement, name: str) -> list[str]:
    """A sentence for each finding but a note about what is searched: `name` is the run's folder."""
    found: dict[str, list[Finding]] = {}
    for finding in judgement.findings:
        if finding.severity is not Severity.NOTE and (finding.figures is None or _SEARCHED & {*finding.figures}):
            found.setdefault(finding.code, []).append(finding)
    return [
        f"{name}: {code} ({', '.join(sorted({f.contender for f in some if f.contender}))}): {some[0].statement}"
        for code, some in found.items()
    ]


def with_memory_limit(folder: ScenarioFolder, demand: Demand, limit_mb: int | None) -> ScenarioFolder:
    """The scenario with its load under a memory limit in MiB; None is not a limit."""
    if limit_mb is None:
        return folder
    load = folder.scenario.loads[demand.load].model_copy(update={"memory_limit_mb": limit_mb})
    loads = {**folder.scenario.loads, demand.load: load}
    return replace(folder, scenario=folder.scenario.model_copy(update={"loads": loads}))


def _settled(rate: float) -> Callable[[Run], bool]:
    """Asks a run whether it is known of each contender if it serves the rate."""

    def asked(run: Run) -> bool:
        return all(one.is_settled(rate) for one in containers_of(run, judge(run), cpus=0.0))

    return asked


def _name(cpus: float, limit_mb: int | None) -> str:
    return f"cpus-{cpus:g}" if limit_mb is None else f"cpus-{cpus:g}-memory-{limit_mb}"


def with_floor_at_rate(folder: ScenarioFolder, demand: Demand) -> ScenarioFolder:
    """The scenario with a memory floor under an open loop at the rate, within the objective."""
    load: Load = open_loop(folder.scenario.loads[demand.load], demand.rate)
    load = load.model_copy(update={"title": f"{load.title}, {demand.rate:g} requests per second", "exhibit": None})
    own = folder.scenario.floor
    floor = Floor(
        load=_LOAD,
        share_of_unlimited=KEPT,
        objective=demand.objective,
        from_mb=own.from_mb if own else 4,
        to_mb=own.to_mb if own else 1024,
    )
    loads = {**folder.scenario.loads, _LOAD: load}
    return replace(folder, scenario=folder.scenario.model_copy(update={"loads": loads, "floor": floor}))


def _run(folder: ScenarioFolder, request: RunRequest, stacks: Sequence[str], conditions: RunConditions) -> Run:
    store = measure(folder, request, stacks=stacks, conditions=conditions)
    run = load_run(store.folder)
    render(View(run, judge(run)), store.folder)
    if run.interrupted:
        raise KeyboardInterrupt
    return run


def usual_quotas(cpus: int) -> list[float]:
    """Half a CPU, and one, two, four ... as far as contenders have CPUs."""
    quotas = [0.5]
    while quotas[-1] * 2 <= cpus:
        quotas.append(quotas[-1] * 2)
    return quotas


def runs_folder(results: Path, scenario: str, demand: Demand) -> Path:
    """Where the runs go if nothing else is said: the first free name."""
    number = 1
    while (folder := results / f"size-{scenario}-{demand.rate:g}-{number}").exists():
        number += 1
    return folder
