"""The plan of a run: contenders, loads, rounds, and the order in each round, drawn from a seed."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from touchstone.failure import UsageError
from touchstone.manifest.catalogue import Contender, ScenarioFolder
from touchstone.manifest.condition import ConditionError
from touchstone.manifest.files import STACK_FILE
from touchstone.manifest.load import Load
from touchstone.manifest.objective import parse_objective
from touchstone.manifest.outside import ExternalService
from touchstone.manifest.scenario import Capacity
from touchstone.manifest.spoken import USUAL_TLS, ProtocolKeys, TlsSettings
from touchstone.plan.placement import available_cpus, plan_placement
from touchstone.plan.preset import PROFILES, Preset
from touchstone.record.load_spec import LoadSpec
from touchstone.record.process import GeneratorPlace
from touchstone.record.run import ContenderPlan, Plan
from touchstone.toolchain.registry import find_tool
from touchstone.toolchain.tool import FoundTool
from touchstone.vocabulary.dependency import DEPENDENCIES

_SLICES_S = (0.05, 20.0)


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for."""

    profile: str = "normal"
    rounds: int | None = None
    seed: int | None = None
    phases: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    objective: str | None = None
    """What the capacity phase searches the highest rate for, in place of the scenario's own."""
    tls: TlsSettings = USUAL_TLS
    """How TLS is spoken, in place of what the scenario says."""
    exhibits: bool = False
    command: tuple[str, ...] = ()
    margin: float = 0.05
    """The least effect that matters, as a share."""
    confidence: float = 0.95
    slice_s: float | None = None
    """How long one contender's turn is, in seconds; the profile's if not given."""
    whole_windows: bool = False
    """Load each contender by itself, without slices: less precise, and the way to far percentiles."""
    twin: str | None = None
    """The contender that is a second copy of the baseline; None without one."""


@dataclass(frozen=True)
class Tools:
    """The tools found for a contender."""

    found: dict[str, FoundTool]

    @property
    def versions(self) -> dict[str, str]:
        """Versions by tool name, with the builder's own words where builds of one version differ."""
        return {
            name: f"{tool.version} ({tool.note})" if tool.note else str(tool.version)
            for name, tool in self.found.items()
        }


def find_tools(contender: Contender) -> Tools | str:
    """Return the contender's tools, or the missing ones as text. Raises UsageError for an unknown tool."""
    found: dict[str, FoundTool] = {}
    missing: list[str] = []
    for name, wanted in contender.needs.items():
        try:
            tool = find_tool(name, wanted)
        except UsageError as error:
            where = f"{contender.stack.folder / STACK_FILE}, needs.{name} of {contender.name}"
            raise UsageError(error.what, where=where, fix=error.fix) from error
        if isinstance(tool, FoundTool):
            found[name] = tool
        else:
            missing.append(str(tool))
    return "; ".join(missing) if missing else Tools(found)


def planned_loads(folder: ScenarioFolder, request: RunRequest) -> dict[str, Load]:
    """Return the loads of the preset, or the requested ones. Raises UsageError."""
    loads = folder.scenario.loads
    if request.loads:
        for name in request.loads:
            if name not in loads:
                raise UsageError(
                    f"scenario {folder.scenario.name} has no load {name!r}", fix=f"there are: {', '.join(loads)}"
                )
        return {name: loads[name] for name in request.loads}
    return {
        name: load
        for name, load in loads.items()
        if (request.profile in load.profiles or (load.disturb and "disturb" in request.phases))
        and (request.exhibits or load.exhibit is None)
    }


def spec_of(load: Load) -> LoadSpec:
    """Return the load in the form of a record."""
    stated = load.model_dump(mode="json", by_alias=True)
    return LoadSpec.model_validate(stated | {"tls": load.spoken.tls, "tls_settings": load.spoken.settings.given})


def with_objective(folder: ScenarioFolder, text: str) -> ScenarioFolder:
    """Return the scenario with another capacity objective. Raises UsageError for an invalid objective."""
    try:
        objective = parse_objective(text).text
    except ConditionError as error:
        raise UsageError(error.what, where="--objective", fix=error.fix) from error
    own = folder.scenario.capacity
    capacity = Capacity(objective=objective, loads=own.loads if own else [])
    try:
        capacity.refuse_without_streams(folder.scenario.loads)
    except ValueError as error:
        raise UsageError(str(error), where="--objective", fix="bound a latency, such as p99 < 50ms") from error
    return replace(folder, scenario=folder.scenario.model_copy(update={"capacity": capacity}))


def over_tls(folder: ScenarioFolder, outside: Sequence[ExternalService]) -> ScenarioFolder:
    """Return the scenario with TLS as the default, if a service's URL is https.

    Raises UsageError for URLs of both schemes, unless the loads state what they speak.
    """
    found, loads = {service.tls for service in outside}, folder.scenario.loads
    silent = [name for name, load in loads.items() if load.protocol == "h1" and "tls" not in load.model_fields_set]
    if True not in found or not silent:
        return folder
    if len(found) > 1:
        raise UsageError(
            "some services have http:// URLs and some https://, and nothing says which loads use TLS",
            fix=f"give all URLs one scheme, or write `tls = true` or `tls = false` in the loads {', '.join(silent)}",
        )
    changed = {name: load.model_copy(update={"tls": load.tls or name in silent}) for name, load in loads.items()}
    tls = folder.scenario.protocol != "h2c"
    return replace(folder, scenario=folder.scenario.model_copy(update={"loads": changed, "tls": tls}))


def with_tls(folder: ScenarioFolder, wanted: TlsSettings) -> ScenarioFolder:
    """Return the scenario with these TLS settings.

    Settings that are not given stay.

    Raises UsageError if nothing is spoken over TLS.
    """
    if not wanted.given:
        return folder
    scenario = folder.scenario
    if not any(one.tls for one in (scenario, *scenario.loads.values())):
        raise UsageError(
            f"the options about TLS ({', '.join(wanted.given)}) have nothing to say: nothing is spoken over TLS",
            fix="name the service by an https:// URL, write `tls = true` in scenario.toml, or leave them out",
        )

    # A certificate brings its key, and what is verified is either trusted by a file or not at all.
    replaced = {"key"} if wanted.cert is not None else set()
    replaced |= {"ca_file"} if wanted.verify is False else {"verify"} if wanted.ca_file is not None else set()

    def changed(one: ProtocolKeys) -> bool | TlsSettings:
        own = {key: value for key, value in one.spoken.settings.given.items() if key not in replaced}
        return one.tls and TlsSettings.model_validate(own | wanted.given)

    loads = {name: load.model_copy(update={"tls": changed(load)}) for name, load in scenario.loads.items()}
    return replace(folder, scenario=scenario.model_copy(update={"loads": loads, "tls": changed(scenario)}))


def make_plan(
    folder: ScenarioFolder,
    contenders: Sequence[Contender],
    request: RunRequest,
    phases: Sequence[str],
    generators: Sequence[GeneratorPlace] = (),
) -> Plan:
    """Make the plan. `generators` are other machines that send load. Raises UsageError if the plan is empty."""
    profile: Preset = PROFILES[request.profile]
    rounds = request.rounds if request.rounds is not None else profile.rounds
    if rounds < 1:
        raise UsageError(f"--rounds is {rounds}", fix="give at least 1; from 4 on intervals are worth reading")
    if request.slice_s is not None and not _SLICES_S[0] <= request.slice_s <= _SLICES_S[1]:
        raise UsageError(
            f"a slice of {request.slice_s:g} s",
            fix=f"give one from {_SLICES_S[0]:g} to {_SLICES_S[1]:g} s: a shorter slice is mostly its start and end, "
            "and within a longer one the machine changes",
        )
    seed = request.seed if request.seed is not None else secrets.randbelow(2**31)
    scenario = folder.scenario
    entries = [_entry(contender) for contender in contenders]
    runnable = [entry.name for entry in entries if entry.not_measured is None]
    dice = random.Random(seed)
    orders = [dice.sample(runnable, len(runnable)) for _ in range(rounds)]
    now = datetime.now(UTC)
    loads = planned_loads(folder, request)
    return Plan(
        run_id=f"{now:%Y%m%d-%H%M%S}-{scenario.name}",
        scenario=scenario.name,
        scenario_version=scenario.version,
        scenario_title=scenario.title,
        profile=profile.name,
        phases=list(phases),
        loads=list(loads),
        load_specs={name: spec_of(load) for name, load in loads.items()},
        rounds=rounds,
        seed=seed,
        orders=orders,
        contenders=entries,
        baseline=_baseline(folder, contenders),
        placement=plan_placement(
            available_cpus(),
            dependencies=_own_processes(folder) and any(not c.outside for c in contenders),
            generators=generators,
        ),
        command=list(request.command),
        margin=request.margin,
        confidence=request.confidence,
        slice_s=request.slice_s,
        whole_windows=request.whole_windows,
        twin=request.twin,
    )


def _baseline(folder: ScenarioFolder, contenders: Sequence[Contender]) -> str | None:
    """The scenario's baseline, the first stack, or the first-named service that already runs."""
    if contenders and all(contender.outside for contender in contenders):
        return contenders[0].name
    return folder.scenario.baseline or (folder.stacks[0].name if folder.stacks else None)


def _own_processes(folder: ScenarioFolder) -> bool:
    """Whether a dependency runs in separate processes and so needs CPUs."""
    return any(DEPENDENCIES[spec.kind].own_processes for spec in folder.scenario.dependencies.values())


def _entry(contender: Contender) -> ContenderPlan:
    tools = find_tools(contender)
    variant = contender.variant
    return ContenderPlan(
        name=contender.name,
        stack=contender.stack.name,
        variant=contender.variant_name,
        title=contender.stack.title if contender.outside else f"{contender.stack.title}, {variant.title}",
        language=contender.stack.language,
        exhibit=variant.exhibit,
        sound_twin=f"{contender.stack.name}/{variant.sound_twin}" if variant.sound_twin else None,
        not_measured=tools if isinstance(tools, str) else None,
        tools={} if isinstance(tools, str) else tools.versions,
        outside=contender.outside.origin if contender.outside else None,
    )
