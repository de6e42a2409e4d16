"""What a pyproject.toml or a Pipfile says that its project depends on, in pip's words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from touchstone.intake.service.python_build import is_installable
from touchstone.intake.service.reading import read_json, read_source, read_toml, table_at, text_at, texts_at
from touchstone.intake.service.workspace import members, root_of

PROJECT = "pyproject.toml"
SETUP = ("setup.py", "setup.cfg")
PIPFILE = "Pipfile"
PIPFILE_LOCK = "Pipfile.lock"
_NAME = re.compile(r"[\w.-]+")
_SETUP = re.compile(r"\bsetup\(|^\[metadata\]", re.MULTILINE)
_SCRIPT = re.compile(r"""^[\s"'\[]*([\w.-]+)\s*=\s*[\w.]+:[\w.]+["',\]\s]*$""", re.MULTILINE)
"""`name = package.module:function` of a setup.cfg or a setup.py."""
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
    scripts: Sequence[str] = ()
    """The programs that it has once it is installed."""


def project_of(service: Path) -> Project:
    """What its pyproject.toml has, or its Pipfile; empty without both. Raises UsageError if it cannot be read."""
    if (service / PROJECT).is_file():
        return _project(service, read_toml(service / PROJECT))
    setup = "\n".join(read_source(service / name) for name in SETUP)
    whole = _SETUP.search(setup) is not None
    scripts = _SCRIPT.findall(setup)
    if not (service / PIPFILE).is_file():
        return Project((), package=whole, whole=whole, scripts=scripts)
    held = read_toml(service / PIPFILE)
    locked = table_at(read_json(service / PIPFILE_LOCK), "default") if (service / PIPFILE_LOCK).is_file() else {}
    pins = {name: version for name, one in locked.items() if (version := text_at(one, "version"))}
    named = table_at(held, "packages")
    python = text_at(held, "requires", "python_version") or None
    return Project(list(_named(named, pins)), folders=_folders(service, named), python=python, scripts=scripts)


def name_of(requirement: str) -> str:
    """The package's, as indexes write it; empty if it begins with none."""
    found = _NAME.match(requirement)
    return canonicalize_name(found[0]) if found else ""


def uv_members(folder: Path) -> Sequence[str]:
    """The packages of a folder's workspace of uv, as patterns."""
    held = read_toml(folder / PROJECT) if (folder / PROJECT).is_file() else {}
    workspace = table_at(held, "tool", "uv", "workspace")
    return [*texts_at(workspace, "members"), *(f"!{left_out}" for left_out in texts_at(workspace, "exclude"))]


def _project(service: Path, held: dict[str, Any]) -> Project:
    project, poetry = table_at(held, "project"), table_at(held, "tool", "poetry")
    named: _Table = table_at(poetry, "dependencies")
    listed = texts_at(project, "dependencies") if "dependencies" in project else None
    stated = text_at(project, "requires-python") or text_at(named, "python")
    lowest = _LOWEST.search(stated)
    optional = {name: next(_named({name: _asked(one)}, {}), name) for name, one in named.items() if name != "python"}
    asked = table_at(poetry, "extras")
    extras = {name: [optional.get(one, one) for one in texts_at(asked, name)] for name in asked}
    more = table_at(project, "optional-dependencies")
    grouped = {name: list(_named(table_at(one, "dependencies"), {})) for name, one in table_at(poetry, "group").items()}
    groups = table_at(held, "dependency-groups")
    scripts = [table_at(table, "scripts") for table in (project, poetry)]
    elsewhere = listed is None and "dependencies" not in poetry and any((service / name).is_file() for name in SETUP)
    return Project(
        needed=listed if listed is not None else list(_named(named, {})),
        extras=extras | {name: texts_at(more, name) for name in more},
        groups=grouped | {name: list(_grouped(name, groups)) for name in groups},
        folders=_folders(service, named) | _uv_folders(service, table_at(held, "tool", "uv", "sources")),
        package="build-system" in held,
        whole=is_installable(service, held) or elsewhere,
        python=lowest[1] if lowest else None,
        scripts=list(dict.fromkeys(name for table in scripts for name in table)),
    )


def _grouped(name: str, groups: _Table, within: Sequence[str] = ()) -> Iterator[str]:
    """What a group has, with the groups that it includes. One that includes itself on the way has nothing more."""
    listed = groups.get(name)
    for one in listed if isinstance(listed, list) and name not in within else ():
        if isinstance(one, str):
            yield one
        else:
            yield from _grouped(text_at(one, "include-group"), groups, [*within, name])


def _folders(service: Path, named: _Table) -> dict[str, Path]:
    """Packages with a path in a table of Poetry, Pipenv or uv."""
    return {
        canonicalize_name(name): (service / path).resolve()
        for name, one in named.items()
        if (path := text_at(one, "path"))
    }


def _uv_folders(service: Path, sources: _Table) -> dict[str, Path]:
    shared = {canonicalize_name(name) for name, one in sources.items() if one == {"workspace": True}}
    root = (root_of(service, uv_members) or service) if shared else service
    packages = {
        canonicalize_name(text_at(read_toml(folder / PROJECT), "project", "name")): folder
        for folder in (members(root, uv_members(root)) if shared else ())
        if (folder / PROJECT).is_file()
    }
    return _folders(service, sources) | {name: folder for name, folder in packages.items() if name in shared}


def _asked(stated: object) -> _Table:
    """A line of Poetry's table, as if it were not optional."""
    return {**stated, "optional": False} if isinstance(stated, dict) else {"version": stated}


def _named(wanted: _Table, pins: Mapping[str, str]) -> Iterator[str]:
    """Requirements in pip's words of what Poetry and Pipenv have in a table."""
    for name, stated in wanted.items():
        one = stated if isinstance(stated, dict) else {"version": stated}
        if name == "python" or one.get("optional"):
            continue
        asked = texts_at(one, "extras")
        extras = f"[{','.join(asked)}]" if asked else ""
        if git := text_at(one, "git"):
            at = next((f"@{one[key]}" for key in ("rev", "tag", "branch", "ref") if key in one), "")
            yield f"{name}{extras} @ git+{git}{at}"
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
