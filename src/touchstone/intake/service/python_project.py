"""What a pyproject.toml or a Pipfile says that its project depends on, in pip's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from touchstone.intake.service.base import read_json, read_toml
from touchstone.intake.service.workspace import members, root_of

PROJECT = "pyproject.toml"
PIPFILE = "Pipfile"
PIPFILE_LOCK = "Pipfile.lock"
_NAME = re.compile(r"[\w.-]+")
_LOWEST = re.compile(r"(?:>=|~=|==|\^|~)\s*(\d+(?:\.\d+)*)")
_Table = Mapping[str, Any]


@dataclass(frozen=True)
class Project:
    """The packages that a project names."""

    needed: Sequence[str]
    extras: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What may be asked for with it, by name."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What its developers have next to it, by name."""
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Where those of its packages lie that come from no index."""
    package: bool = False
    """Whether it can be built and installed itself."""
    whole: bool = False
    """Whether its modules are found only if it is installed itself."""
    python: str | None = None
    """The lowest version that it runs with."""


def project_of(service: Path) -> Project:
    """What its pyproject.toml has, or its Pipfile; empty without both. Raises UsageError if it cannot be read."""
    if (service / PROJECT).is_file():
        return _project(service, read_toml(service / PROJECT))
    if not (service / PIPFILE).is_file():
        return Project(())
    held = read_toml(service / PIPFILE)
    locked = read_json(service / PIPFILE_LOCK).get("default", {}) if (service / PIPFILE_LOCK).is_file() else {}
    pins = {name: one["version"] for name, one in locked.items() if "version" in one}
    named = held.get("packages", {})
    python = held.get("requires", {}).get("python_version")
    return Project(list(_named(named, pins)), folders=_folders(service, named), python=python)


def name_of(requirement: str) -> str:
    """The package's, as indexes write it; empty if it begins with none."""
    found = _NAME.match(requirement)
    return canonicalize_name(found[0]) if found else ""


def uv_members(folder: Path) -> Sequence[str]:
    """The packages of a folder's workspace of uv, as patterns."""
    held = read_toml(folder / PROJECT) if (folder / PROJECT).is_file() else {}
    workspace = held.get("tool", {}).get("uv", {}).get("workspace", {})
    return [*workspace.get("members", []), *(f"!{left_out}" for left_out in workspace.get("exclude", []))]


def _project(service: Path, held: dict[str, Any]) -> Project:
    project, tool = held.get("project", {}), held.get("tool", {})
    poetry = tool.get("poetry", {})
    named: _Table = poetry.get("dependencies", {})
    listed = project.get("dependencies")
    package = "build-system" in held
    # What imports its modules is the folder that it is run in, so that it need be no package.
    whole = package and (service / "src").is_dir() if isinstance(listed, list) else "dependencies" not in poetry
    said = project.get("requires-python") or named.get("python")
    lowest = _LOWEST.search(said) if isinstance(said, str) else None
    optional = {name: next(_named({name: _asked(one)}, {}), name) for name, one in named.items() if name != "python"}
    extras = {
        name: [optional.get(one, one) for one in names] for name, names in poetry.get("extras", {}).items()
    } | project.get("optional-dependencies", {})
    grouped = {name: list(_named(one.get("dependencies", {}), {})) for name, one in poetry.get("group", {}).items()}
    groups = held.get("dependency-groups", {})
    return Project(
        needed=[str(one) for one in listed] if isinstance(listed, list) else list(_named(named, {})),
        extras=extras,
        groups=grouped | {name: list(_grouped(name, groups)) for name in groups},
        folders=_folders(service, named) | _uv_folders(service, tool.get("uv", {}).get("sources", {})),
        package=package,
        whole=whole,
        python=lowest[1] if lowest else None,
    )


def _grouped(name: str, groups: _Table, within: Sequence[str] = ()) -> Iterator[str]:
    """What a group has, with the groups that it includes; one that includes itself on the way has nothing more."""
    for one in groups.get(name, []) if name not in within else ():
        if isinstance(one, str):
            yield one
        else:
            yield from _grouped(one.get("include-group", ""), groups, [*within, name])


def _folders(service: Path, named: _Table) -> dict[str, Path]:
    """Of a table of Poetry, Pipenv or uv those packages that it has a path of."""
    return {
        canonicalize_name(name): (service / one["path"]).resolve()
        for name, one in named.items()
        if isinstance(one, dict) and "path" in one
    }


def _uv_folders(service: Path, sources: _Table) -> dict[str, Path]:
    shared = {canonicalize_name(name) for name, one in sources.items() if one == {"workspace": True}}
    root = (root_of(service, uv_members) or service) if shared else service
    packages = {
        canonicalize_name(read_toml(folder / PROJECT).get("project", {}).get("name", "")): folder
        for folder in (members(root, uv_members(root)) if shared else ())
        if (folder / PROJECT).is_file()
    }
    return _folders(service, sources) | {name: folder for name, folder in packages.items() if name in shared}


def _asked(said: object) -> _Table:
    """A line of Poetry's table, as if it were not optional."""
    return {**said, "optional": False} if isinstance(said, dict) else {"version": said}


def _named(wanted: _Table, pins: Mapping[str, str]) -> Iterator[str]:
    """Requirements in pip's words of what Poetry and Pipenv have in a table."""
    for name, said in wanted.items():
        one = said if isinstance(said, dict) else {"version": said}
        if name == "python" or one.get("optional"):
            continue
        extras = f"[{','.join(one['extras'])}]" if one.get("extras") else ""
        if "git" in one:
            at = next((f"@{one[key]}" for key in ("rev", "tag", "branch", "ref") if key in one), "")
            yield f"{name}{extras} @ git+{one['git']}{at}"
        else:
            yield f"{name}{extras}{pins.get(name.lower()) or _bounds(str(one.get('version', '*')))}"


def _bounds(version: str) -> str:
    """Poetry's `^1.2` and `~1.2` in pip's words."""
    first, number = version[:1], version.lstrip("^~")
    if version == "*" or "|" in version:
        return ""
    if first == "^" or (first == "~" and not version.startswith("~=")):
        parts = [int(part) for part in re.findall(r"\d+", number)]
        counts = [place for place, part in enumerate(parts) if part] or [len(parts) - 1]
        place = counts[0] if first == "^" else min(1, len(parts) - 1)
        above = [*parts[:place], parts[place] + 1]
        return f">={number},<{'.'.join(map(str, above))}"
    return f"=={version}" if first.isdigit() else version
