"""The names, times and settings of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from touchstone.check.problem import Problem
from touchstone.check.requests import Place
from touchstone.dependency.registry import dependency_class
from touchstone.engine.ask import unusable_tls
from touchstone.manifest.catalogue import ScenarioFolder
from touchstone.manifest.contract import Act, Proof
from touchstone.manifest.load import Load
from touchstone.manifest.places import unknown_place
from touchstone.manifest.scenario import GIVEN, GRPC_PORT, Scenario
from touchstone.manifest.spoken import USUAL_TLS, TlsSettings
from touchstone.plan.preset import PROFILES
from touchstone.vocabulary.dependency import DEPENDENCIES

_GUIDE = "see docs/dependencies.md"


def check_scenario(file: Path, folder: ScenarioFolder) -> Iterator[Problem]:
    """What is wrong with everything but the requests."""
    scenario = folder.scenario
    stacks = [stack.name for stack in folder.stacks]
    if scenario.baseline is not None and scenario.baseline not in stacks:
        yield Problem(
            file, ("baseline",), f"there is no stack {scenario.baseline!r}", f"name one of: {', '.join(stacks)}"
        )
    apart = any(variant.grpc_port for stack in folder.stacks for variant in stack.variants.values())
    yield from _dependencies(file, scenario, (*GIVEN, GRPC_PORT) if apart else GIVEN)
    yield from _roles(file, scenario)
    for number, check in enumerate(scenario.contract):
        for place, step in enumerate(check.steps):
            if isinstance(step, Act):
                yield from _act(file, scenario, ("contract", number, "steps", place), step)
        for place, proof in enumerate(check.proofs):
            yield from _proof(file, scenario, ("contract", number, "proofs", place), proof)
    for name, load in scenario.loads.items():
        yield from _load(file, scenario, name, load)
    yield from _tls(file, scenario)


def _tls(file: Path, scenario: Scenario) -> Iterator[Problem]:
    """What the engine, which speaks TLS, does not take of its settings. Each table is named once."""
    places: dict[TlsSettings, Place] = {}
    for name, load in reversed(scenario.loads.items()):
        places[load.spoken.settings] = ("loads", name, "tls")
    places[scenario.spoken.settings] = ("tls",)
    places.pop(USUAL_TLS, None)
    for key, why in zip(places.values(), unusable_tls(list(places)) if places else (), strict=True):
        if why is not None:
            yield Problem(file, key, why, "see docs/tls.md")


def _dependencies(file: Path, scenario: Scenario, given: Sequence[str]) -> Iterator[Problem]:
    """`given` are the variables that touchstone gives itself."""
    taken: dict[str, str] = dict.fromkeys(scenario.settings, "[settings]") | dict.fromkeys(given, "touchstone")
    for name, spec in scenario.dependencies.items():
        here: Place = ("dependencies", name)
        for key, variable in [((*here, "env"), spec.env), *(((*here, "variables", v), v) for v in spec.variables)]:
            if variable in taken:
                yield Problem(file, key, f"{variable} is given by {taken[variable]}, too", "choose another name")
            taken[variable] = f"dependency {name}"
        for variable, text in spec.variables.items():
            if (why := unknown_place(text, DEPENDENCIES[spec.kind].address)) is not None:
                yield Problem(file, (*here, "variables", variable), why, _GUIDE)
        for wrong, what in dependency_class(spec.kind).wrong_settings(dict(spec.settings), file.parent):
            yield Problem(file, (*here, "settings", wrong), what, _GUIDE)
    for name in given:
        if name in scenario.settings:
            yield Problem(file, ("settings", name), "touchstone gives it itself", "leave it out")


def _roles(file: Path, scenario: Scenario) -> Iterator[Problem]:
    if scenario.drain is None:
        return
    for role, name, kind in (
        ("dependency", scenario.drain.dependency, "kafka"),
        ("downstream", scenario.drain.downstream, "echo"),
    ):
        spec = scenario.dependencies.get(name)
        if spec is None or spec.kind != kind:
            fitting = [n for n, s in scenario.dependencies.items() if s.kind == kind]
            yield Problem(
                file,
                ("drain", role),
                f"{name!r} is not a dependency of kind {kind}",
                f"name one: {', '.join(fitting) or f'there is none; add [dependencies.NAME] with kind = {kind!r}'}",
            )


def _known(scenario: Scenario) -> str:
    return f"there are: {', '.join(scenario.dependencies) or 'none'}"


def _unknown_dependency(file: Path, scenario: Scenario, key: Place, name: str) -> Problem:
    return Problem(file, (*key, "dependency"), f"the scenario has no dependency {name!r}", _known(scenario))


def _act(file: Path, scenario: Scenario, key: Place, step: Act) -> Iterator[Problem]:
    spec = scenario.dependencies.get(step.dependency)
    if spec is None:
        yield _unknown_dependency(file, scenario, key, step.dependency)
        return
    acts = dependency_class(spec.kind).acts
    if step.act not in acts:
        yield Problem(
            file,
            (*key, "act"),
            f"a dependency of kind {spec.kind} cannot {step.act!r}",
            f"it can: {', '.join(acts) or 'nothing'}",
        )
        return
    for argument in step.with_:
        if argument not in acts[step.act]:
            taken = f"it takes: {', '.join(acts[step.act])}" if acts[step.act] else "leave `with` out: it takes none"
            yield Problem(file, (*key, "with", argument), f"{step.act} has no argument {argument!r}", taken)


def _proof(file: Path, scenario: Scenario, key: Place, proof: Proof) -> Iterator[Problem]:
    spec = scenario.dependencies.get(proof.dependency)
    if spec is None:
        yield _unknown_dependency(file, scenario, key, proof.dependency)
        return
    if (why := dependency_class(spec.kind).wrong_query(proof.query, dict(spec.settings))) is not None:
        yield Problem(file, (*key, "query"), why, "correct the query; docs/dependencies.md tells what can be asked")


def _load(file: Path, scenario: Scenario, name: str, load: Load) -> Iterator[Problem]:
    for place, step in enumerate(load.prepare):
        if isinstance(step, Act):
            yield from _act(file, scenario, ("loads", name, "prepare", place), step)
    for place, proof in enumerate(load.proofs):
        yield from _proof(file, scenario, ("loads", name, "proofs", place), proof)
    for dependency, settings in load.dependency_settings.items():
        key: Place = ("loads", name, "dependency_settings", dependency)
        spec = scenario.dependencies.get(dependency)
        if spec is None:
            yield Problem(file, key, f"the scenario has no dependency {dependency!r}", _known(scenario))
            continue
        merged = dict(spec.settings) | dict(settings)
        for wrong, what in dependency_class(spec.kind).wrong_settings(merged, file.parent):
            if wrong in settings:
                yield Problem(file, (*key, wrong), what, _GUIDE)
    if not load.profiles and name not in scenario.loads_of_phases:
        fix = "leave `profiles` out once the load is as it should be, or name one"
        yield Problem(file, ("loads", name, "profiles"), "it is run in no profile", fix)
    yield from _timeout(file, name, load)


def _timeout(file: Path, name: str, load: Load) -> Iterator[Problem]:
    """A request that hangs from the beginning on is noticed only within warm-up and window."""
    # Steps and a ramp go beyond what a service can do: there, requests wait in the generator, and that is the curve.
    if "timeout_s" not in load.model_fields_set or load.loop in ("steps", "ramp") or load.exhibit:
        return
    for profile in load.profiles:
        timing = PROFILES[profile].timing(load, 1)
        if load.timeout_s > timing.warmup_s + timing.measured_s:
            yield Problem(
                file,
                ("loads", name, "timeout_s"),
                f"it is longer than warm-up and window of the preset {profile} "
                f"({timing.warmup_s:g} s and {timing.measured_s:g} s), so that nothing could ever time out",
                "shorten it, give the load `seconds`, or leave the profile out of `profiles`",
            )
            return
