"""A scenario and a stack from a Compose file: the service under test and its dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from touchstone.failure import TouchstoneError, UsageError, did_you_mean
from touchstone.intake.compose.dependencies import KAFKA, PART_OF_KAFKA, dependency, kind_of, needed_by
from touchstone.intake.compose.health import ready_request, within_s
from touchstone.intake.compose.project import ComposeService, Project, read_project
from touchstone.intake.draft import Draft
from touchstone.intake.parts import DraftDependency, DraftLoad, DraftRequest, slug
from touchstone.intake.secrets import scan
from touchstone.intake.service.base import DraftStack
from touchstone.intake.service.deployed import DeployedPort
from touchstone.intake.service.drafting import draft_service
from touchstone.intake.service.shared_context import served_folder
from touchstone.vocabulary.secret import names_secret

_BY_THE_LAB = ("HOST", "PORT", "TLS_CERT", "TLS_KEY")
_READ = frozenset(
    ("build", "image", "environment", "env_file", "ports", "expose", "healthcheck", "depends_on", "links", "profiles")
)
_OF_CONTAINERS = frozenset(
    ("container_name", "hostname", "restart", "pull_policy", "init", "tty", "stdin_open", "labels")
)
"""Keys that say nothing of a service that runs without containers."""
_LISTENS = re.compile(r"(https?://)?(\+|\*|0\.0\.0\.0|\[::\]|localhost|127\.0\.0\.1):(\d+)(/?)")
_WITHHELD = "touchstone-stands-for-a-secret"


@dataclass(frozen=True)
class ComposeDraft:
    """What a Compose file gives: a scenario, and a stack where the service's own files give one."""

    draft: Draft
    service: str
    folder: Path | None
    """The folder of the service's files."""
    stack: DraftStack | None


def draft_from_compose(file: Path, chosen: str | None, place: Path | None = None) -> ComposeDraft:
    """The scenario and stack of a Compose service, by default the one that is built.

    `place` is the folder of its files, by default the one that Compose builds. Raises UsageError.
    """
    project = read_project(file)
    service = _chosen(project, chosen, file)
    notes = list(project.notes)
    dependencies = list(_dependencies(service, project, notes))
    given = {name for one in dependencies for name in one.gives}
    own = _own_address(service)
    settings = dict(_settings(service, given, own, notes))
    stack, folder = _stack(service, place, given, own, notes)
    notes += _left_out(service, project, dependencies)
    check = service.keys.get("healthcheck")
    asked = ready_request(check)
    if check is not None and asked is None:
        notes.append("the health check sends no HTTP request, so that it is not taken over")
    ready = asked or DraftRequest(
        "ready", "GET", "/", "GET / answers", other_statuses=[404], guessed="no health check asks"
    )
    first = replace(ready, name="", guessed=ready.guessed or "write the requests that users send")
    load = DraftLoad("first", "The first request", [first], note="look: write the requests that users send")
    draft = Draft(
        title=service.name,
        source=f"the Compose file {file.name}",
        contract=[first],
        loads=[load],
        ready=ready,
        notes=notes,
        ready_within_s=within_s(check),
        settings=settings,
        dependencies=dependencies,
    )
    return ComposeDraft(draft, service.name, folder, stack)


def _chosen(project: Project, name: str | None, file: Path) -> ComposeService:
    services = project.services
    if name is not None:
        if name in services:
            return services[name]
        fix = f"{did_you_mean(name, services)}there are: {', '.join(services)}"
        raise UsageError(f"the file has no service {name!r}", where=str(file), fix=fix)
    built = [one for one in services.values() if "build" in one.keys and not one.keys.get("profiles")]
    fitting = built or [one for one in services.values() if kind_of(one) == "process" and one.ports]
    if len(fitting) == 1:
        return fitting[0]
    why = "several services are built" if built else "no service is built"
    names = ", ".join(one.name for one in fitting or services.values())
    raise UsageError(
        f"{why}: it is not clear which service is tested",
        where=str(file),
        fix=f"--compose-service with one of: {names}",
    )


def _withheld(held: Any, found: list[str]) -> Any:
    """A value of a dependency without the secrets of its URLs; `found` gets what named them."""
    if not isinstance(held, str):
        return held
    for span in sorted(scan(held), key=lambda span: -span.start):
        found.append(span.name)
        user, colon, _ = span.value.partition(":")
        kept = f"{user}{colon}" if colon and held[span.end : span.end + 1] == "@" else ""
        held = held[: span.start] + kept + _WITHHELD + held[span.end :]
    return held


def _dependencies(service: ComposeService, project: Project, notes: list[str]) -> Iterator[DraftDependency]:
    needed = needed_by(service, project.services)
    taken: set[str] = set()
    kinds = [kind_of(one) for one in needed]
    for other, kind in zip(needed, kinds, strict=True):
        if service.needed.get(other.name) == "service_completed_successfully":
            notes.append(
                f"{other.name} runs once before the service: do its work in `schema`, or in `prepare` of the load"
            )
            continue
        if PART_OF_KAFKA.fullmatch(other.image) and any(map(KAFKA.fullmatch, (one.image for one in needed))):
            continue
        found = dependency(other, service.environment, only=kinds.count(kind) == 1)
        secrets: list[str] = []
        variables = {n: _withheld(held, secrets) for n, held in found.variables.items() if n not in taken}
        settings = {name: _withheld(held, secrets) for name, held in found.settings.items()}
        taken.update(found.gives)
        if secrets:
            notes.append(f"the address of {found.name} has a made-up value in place of its secret")
        yield replace(found, variables=variables, settings=settings)


def _own_address(service: ComposeService) -> dict[str, str]:
    """The variables that say where the service itself listens, with places for it."""
    ports = {str(port) for port, _ in service.ports}
    found = {}
    for name, value in service.environment.items():
        listens = _LISTENS.fullmatch(value)
        if listens and (listens[3] in ports or not ports):
            found[name] = f"{listens[1] or ''}{{host}}:{{port}}{listens[4]}"
        elif value in ports and name not in _BY_THE_LAB and name.upper().endswith("PORT"):
            found[name] = "{port}"
    return found


def _settings(
    service: ComposeService, given: set[str], own: Mapping[str, str], notes: list[str]
) -> Iterator[tuple[str, str]]:
    """The environment that is left when dependencies and touchstone have given theirs."""
    secrets = []
    for name, value in service.environment.items():
        if name in given or name in own or name in _BY_THE_LAB:
            continue
        if names_secret(name) and value:
            secrets.append(name)
            yield name, _WITHHELD
        else:
            inside: list[str] = []
            yield name, _withheld(value, inside)
            secrets += [name] if inside else []
    if secrets:
        notes.append(f"[settings] has a made-up value in place of a secret's: {', '.join(secrets)}")


def _stack(
    service: ComposeService, place: Path | None, given: set[str], own: Mapping[str, str], notes: list[str]
) -> tuple[DraftStack | None, Path | None]:
    """The stack of the service's folder, and that folder; a note where there is none.

    Raises UsageError if a `place` is named and no stack can be drafted of it.
    """
    add = "add the service by `touchstone new FOLDER --service PLACE`"
    if place is None and "build" not in service.keys:
        notes.append(
            f"{service.name} is not built, but the image {service.keys.get('image')}: docs/container-images.md"
        )
        return None, None
    folder = place or service.context
    if folder is None:
        notes.append(f"{service.name} is built of a folder that is not here: {add}")
        return None, None
    takes_port = "PORT" in service.environment
    ports = [] if takes_port else [DeployedPort(port, "the Compose file") for port, _ in service.ports]
    known = {*given, *service.environment}
    dockerfile = service.dockerfile
    if place is None and dockerfile is not None:
        folder = served_folder(dockerfile, folder)
    try:
        drafted = draft_service(folder, own, ports, known, dockerfile)
    except TouchstoneError as error:
        if place is not None:
            raise
        notes.append(f"no stack is drafted of {folder.name}: {error.what}; {add}")
        return None, folder
    marks = [*drafted.guessed]
    for key in ("command", "entrypoint"):
        if held := service.keys.get(key):
            line = " ".join(map(str, held)) if isinstance(held, list) else str(held)
            marks.append(f"Compose starts it with the {key} `{line}`")
    return replace(drafted, port=None if takes_port else drafted.port, guessed=marks), folder


def _left_out(service: ComposeService, project: Project, taken: Sequence[DraftDependency]) -> Iterator[str]:
    """What the file says and the draft does not."""
    taken_over = _READ | _OF_CONTAINERS | {"command", "entrypoint", "deploy"}
    keys = {
        name for name, held in service.keys.items() if name not in taken_over and not name.startswith("x-") and held
    }
    limits = _limits(service)
    if limits:
        yield f"Compose limits the service: a load takes {', '.join(limits)}"
    if keys:
        yield f"left out of {service.name}: {', '.join(sorted(keys))}"
    names = {one.name for one in taken}
    others = [one for one in project.services.values() if one is not service and slug(one.name) not in names]
    asleep = [one.name for one in others if one.keys.get("profiles")]
    awake = [one.name for one in others if not one.keys.get("profiles")]
    if awake:
        yield f"left out, since the service names them nowhere or needs them only once: {', '.join(awake)}"
    if asleep:
        yield f"left out, since a profile starts them: {', '.join(asleep)}"


def _limits(service: ComposeService) -> list[str]:
    """Limits of CPU and memory, as keys of a load."""
    deploy = service.keys.get("deploy")
    resources = deploy.get("resources") if isinstance(deploy, dict) else None
    limits = resources.get("limits") if isinstance(resources, dict) else None
    table = limits if isinstance(limits, dict) else {}
    cpus = str(table.get("cpus") or service.keys.get("cpus") or "")
    memory = str(table.get("memory") or service.keys.get("mem_limit") or "")
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)(i?b)?", memory.lower())
    factor = {"k": 2**10, "m": 2**20, "g": 2**30, "": 1}
    amount = float(found[1]) * factor[found[2]] / 2**20 if found else 0.0
    return [*([f"cpus = {float(cpus):g}"] if re.fullmatch(r"\d*\.?\d+", cpus) else []),
            *([f"memory_limit_mb = {amount:.0f}"] if amount >= 1 else [])]  # fmt: skip
