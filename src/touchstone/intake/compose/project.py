"""Reads a Compose file into services: interpolation, `include`, `extends`, and both syntaxes of each key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError, did_you_mean
from touchstone.intake.compose.variables import Variables, read_env
from touchstone.intake.openapi.plain import read_plain, written
from touchstone.intake.service.reading import read_text

_OVERRIDES = {"compose": "compose.override", "docker-compose": "docker-compose.override"}
_REPLACED = ("command", "entrypoint", "test")
"""Lists that a service does not add to those that it extends."""
_PORT = re.compile(r"(?:(?:\[[^\]]*\]|[^:]*):)?(?:[0-9-]*:)?([0-9]+)(?:-([0-9]+))?(?:/(\w+))?")
_MOST_PORTS = 100
_DEEPEST = 20


@dataclass(frozen=True)
class ComposeService:
    """One service, over the services that it extends, with its variables filled in."""

    name: str
    keys: Mapping[str, Any]
    """As the file has them."""
    folder: Path
    """The folder from which its paths go."""
    environment: Mapping[str, str]
    """The variables of `env_file`, and over them those of `environment`."""

    @property
    def image(self) -> str:
        """The last part of its image's name, without tag: `postgres` of `docker.io/library/postgres:16`."""
        return re.split(r"[:@]", str(self.keys.get("image") or "").rpartition("/")[2])[0].lower()

    @property
    def context(self) -> Path | None:
        """The folder that it is built of. None if it is not built, or of a folder that is elsewhere."""
        build = self.keys.get("build")
        if build is None:
            return None
        context = build if isinstance(build, str) else build.get("context", ".") if isinstance(build, dict) else "."
        place = (self.folder / str(context)).resolve()
        return place if place.is_dir() else None

    @property
    def dockerfile(self) -> Path | None:
        """The Dockerfile that it is built by. None if the file is not there."""
        build = self.keys.get("build")
        named = build.get("dockerfile") if isinstance(build, dict) else None
        place = ((self.context or self.folder) / str(named or "Dockerfile")).resolve()
        return place if place.is_file() else None

    @property
    def ports(self) -> list[tuple[int, int | None]]:
        """TCP ports of its container, and those of this machine that lead there. The published ones first."""
        found: dict[int, int | None] = {}
        for port in _list(self.keys.get("ports")):
            found |= _published(port)
        for port in _list(self.keys.get("expose")):
            found |= {one: found.get(one) for one in _published(port)}
        return list(found.items())

    @property
    def needed(self) -> dict[str, str]:
        """The services that it depends on, and the condition: `service_started` if none is named."""
        given = self.keys.get("depends_on")
        if isinstance(given, dict):
            conditions = {name: one.get("condition") if isinstance(one, dict) else None for name, one in given.items()}
            return {name: str(one or "service_started") for name, one in conditions.items()}
        links = [str(one).partition(":")[0] for one in _list(self.keys.get("links"))]
        return dict.fromkeys([*map(str, _list(given)), *links], "service_started")

    @property
    def hosts(self) -> list[str]:
        """The names by which others reach it."""
        networks = self.keys.get("networks")
        held = networks.values() if isinstance(networks, dict) else ()
        aliases = [alias for one in held if isinstance(one, dict) for alias in _list(one.get("aliases"))]
        named = [self.keys.get("container_name"), self.keys.get("hostname")]
        return [self.name, *(str(one) for one in (*named, *aliases) if one)]


@dataclass
class Project:
    """The services of a file and its includes, and notes on parts that were not read."""

    services: dict[str, ComposeService] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_project(file: Path) -> Project:
    """The services of a Compose file. Raises UsageError."""
    project = Project()
    _Reader(project).file(file, file.parent.resolve(), _dotenv(file.parent, None), ())
    stem = _OVERRIDES.get(file.stem)
    if stem and (beside := [one for one in file.parent.glob(f"{stem}.y*ml") if one.is_file()]):
        project.notes.append(f"{beside[0].name} lies next to it, and is not read")
    if not project.services:
        raise UsageError("the file has no services", where=str(file), fix="name a Compose file with `services:`")
    return project


def _dotenv(folder: Path, named: Sequence[str] | None) -> dict[str, str]:
    """The variables of this shell, and below them those of the project's environment files."""
    found: dict[str, str] = {}
    for name in named if named is not None else [".env"]:
        path = folder / name
        if path.is_file():
            found |= _env_of(path, dict(os.environ))
    return {**found, **os.environ}


def _env_of(path: Path, outside: Mapping[str, str]) -> dict[str, str]:
    try:
        return read_env(read_text(path), outside)
    except ValueError as error:
        raise UsageError(str(error), where=str(path), fix="write a line as NAME=VALUE") from error


@dataclass(frozen=True)
class _Place:
    """Where a service is defined: its file, its folder, the variables there, and what was extended on the way."""

    file: Path
    folder: Path
    values: Mapping[str, str]
    seen: tuple[tuple[Path, str], ...] = ()


class _Reader:
    """Reads files into one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def file(self, file: Path, folder: Path, values: Mapping[str, str], above: tuple[Path, ...]) -> None:
        """Read a file and the files that it includes. Raises UsageError."""
        document = self._document(file, values, above)
        for one in _list(document.get("include")):
            table = one if isinstance(one, dict) else {"path": one}
            paths = [str(path) for path in _list(table.get("path"))]
            self._project.notes += [f"{path} overrides {paths[0]}, and is not read" for path in paths[1:]]
            if not paths:
                continue
            included = file.parent / paths[0]
            if "://" in paths[0]:
                self._project.notes.append(f"{paths[0]} is included from elsewhere, and is not read")
                continue
            project = (file.parent / str(table.get("project_directory") or included.parent)).resolve()
            named = [str(name) for name in _list(table.get("env_file"))] or None
            inner = {**_dotenv(file.parent if named else project, named), **values}
            self.file(included, project, inner, (*above, file.resolve()))
        services = document.get("services")
        for name, keys in services.items() if isinstance(services, dict) else ():
            whole, place = self._extended(name, keys, _Place(file, folder, values))
            environment = _environment(name, whole, _Place(file, place, values), self._project.notes)
            self._project.services[name] = ComposeService(name, whole, place, environment)

    def _document(self, file: Path, values: Mapping[str, str], above: tuple[Path, ...]) -> dict[str, Any]:
        if file.resolve() in above or len(above) > _DEEPEST:
            raise UsageError("it includes itself", where=str(file), fix="correct `include`")
        held, lost = read_plain(file)
        self._project.notes += [f"{file.name}: {one}" for one in lost]
        if not isinstance(held, dict):
            raise UsageError("it is not a Compose file", where=str(file), fix="name a file with `services:`")
        _as_texts(held)
        variables = Variables(values)
        try:
            document: dict[str, Any] = variables.filled(held)
        except ValueError as error:
            fix = "set it in the environment or in .env" if "must be set" in str(error) else "correct the file"
            raise UsageError(str(error), where=str(file), fix=fix) from error
        if variables.unset:
            self._project.notes.append(f"{file.name} uses variables that are not set: {', '.join(variables.unset)}")
        return document

    def _extended(self, name: str, keys: Any, here: _Place) -> tuple[dict[str, Any], Path]:
        """A service's keys over those that it extends, and the folder from which its paths go."""
        file, folder = here.file, here.folder
        if not isinstance(keys, dict):
            raise UsageError(f"the service {name!r} is not a mapping", where=str(file), fix="correct it in that file")
        own = dict(keys)
        given = own.pop("extends", None)
        if isinstance(own.get("environment"), list):
            own["environment"] = _pairs(own["environment"])
        if given is None:
            return own, folder
        table = given if isinstance(given, dict) else {"service": given}
        base, other = str(table.get("service")), file
        if table.get("file"):
            other = file.parent / str(table["file"])
        if (other.resolve(), base) in here.seen:
            raise UsageError(f"the service {name!r} extends itself", where=str(file), fix="correct `extends`")
        document = self._document(other, here.values, ())
        services = document.get("services")
        known = services if isinstance(services, dict) else {}
        if base not in known:
            hint = did_you_mean(base, known)
            raise UsageError(
                f"{name!r} extends {base!r}, which is not a service", where=str(other), fix=f"{hint}correct it"
            )
        place = folder if other == file else other.parent.resolve()
        there = _Place(other, place, here.values, (*here.seen, (other.resolve(), base)))
        whole, below = self._extended(base, known[base], there)
        return _merged(whole, own), folder if "build" in own or "env_file" in own else below


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    whole = dict(base)
    for key, value in own.items():
        held = whole.get(key)
        if isinstance(held, dict) and isinstance(value, dict):
            whole[key] = _merged(held, value)
        elif isinstance(held, list) and isinstance(value, list) and key not in _REPLACED:
            whole[key] = [*held, *(one for one in value if one not in held)]
        else:
            whole[key] = value
    return whole


def _environment(name: str, keys: Mapping[str, Any], here: _Place, notes: list[str]) -> dict[str, str]:
    """Variables of a service: those of its files, and over them its own; one without a value is the shell's."""
    found: dict[str, str] = {}
    for one in _list(keys.get("env_file")):
        path = here.folder / str(one.get("path") if isinstance(one, dict) else one)
        if path.is_file():
            found |= _env_of(path, here.values)
        elif not (isinstance(one, dict) and one.get("required") is False):
            notes.append(f"{name} has variables from {path.name}, which is not here")
    own = keys.get("environment")
    if not isinstance(own, dict | list | None):
        notes.append(f"{name} has an `environment` that is neither a mapping nor a list, and is not read")
        own = None
    for variable, value in (_pairs(own) if isinstance(own, list) else own or {}).items():
        if value is None:
            found |= {variable: here.values[variable]} if variable in here.values else {}
        else:
            found[variable] = str(value)
    return found


def _pairs(listed: Sequence[Any]) -> dict[str, str | None]:
    split = [str(one).partition("=") for one in listed]
    return {name: value if sign else None for name, sign, value in split}


def _as_texts(held: Any) -> None:
    """Keep values of `environment` as the file writes them, such as `yes` and `1.10`."""
    if isinstance(held, dict):
        for key, one in held.items():
            if key in ("environment", "args") and isinstance(one, dict):
                for name in one:
                    if (text := written(one, name)) is not None and one[name] is not None:
                        one[name] = text
            _as_texts(one)
    elif isinstance(held, list):
        for one in held:
            _as_texts(one)


def _published(port: Any) -> dict[int, int | None]:
    """The container's ports of one entry, each with that of this machine."""
    if isinstance(port, dict):
        target, protocol = str(port.get("target", "")), str(port.get("protocol") or "tcp")
        outer = str(port.get("published") or "").partition("-")[0]
        first = int(outer) if outer.isdigit() else None
        return {int(target): first} if target.isdigit() and protocol == "tcp" else {}
    text = str(port)
    found = _PORT.fullmatch(text)
    if found is None or (found[3] or "tcp") != "tcp":
        return {}
    first, last = int(found[1]), int(found[2] or found[1])
    before = text.rpartition(":")[0].rpartition(":")[2].rpartition("]")[2].partition("-")[0]
    outer_first = int(before) if before.isdigit() else None
    numbers = range(first, min(last, first + _MOST_PORTS) + 1)
    return {one: None if outer_first is None else outer_first + one - first for one in numbers}


def _list(held: Any) -> list[Any]:
    return held if isinstance(held, list) else [] if held is None else [held]
