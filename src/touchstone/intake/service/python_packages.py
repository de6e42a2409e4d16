"""What pip is told to install for a service, by the file that names what it depends on."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from touchstone.intake.service.base import APP, Words, below, first_there, read_json, read_text, read_toml

_REQUIREMENTS = (
    "requirements.txt",
    *(f"requirements/{name}.txt" for name in ("production", "prod", "base", "common")),
)
PROJECT = "pyproject.toml"
_PIPFILE = "Pipfile"
MARKS = (*_REQUIREMENTS, PROJECT, _PIPFILE)
_INCLUDES = re.compile(r"^(?:-r|-c|--requirement|--constraint)[ =]*(\S+)", re.MULTILINE)
_Pins = Mapping[str, str]
"""By a package's name in lower case, `==` and its version."""


def packages(service: Path) -> tuple[Words, Sequence[str]]:
    """The arguments of pip, and the files that it reads or that they were read from; none if it reads all sources.

    Raises UsageError if such a file cannot be read.
    """
    if file := first_there(service, _REQUIREMENTS):
        return ["-r", below(file)], [below(name) for name in _with_included(service, file)]
    if not (service / PROJECT).is_file():
        pins = {name: one.get("version", "") for name, one in _json(service, "Pipfile.lock").get("default", {}).items()}
        named: dict[str, Any] = read_toml(service / _PIPFILE).get("packages", {})
        return list(_named(named, pins)), _there(service, _PIPFILE, "Pipfile.lock")
    project: dict[str, Any] = read_toml(service / PROJECT)
    poetry = project.get("tool", {}).get("poetry", {}).get("dependencies")
    listed = project.get("project", {}).get("dependencies")
    if isinstance(listed, list) and not ("build-system" in project and (service / "src").is_dir()):
        # What imports its modules is the folder that it is run in, so that it need be no package.
        return [str(one) for one in listed], [below(PROJECT)]
    if isinstance(poetry, dict):
        return list(_named(poetry, _poetry_pins(service))), _there(service, PROJECT, "poetry.lock")
    return [f"./{APP}"], ()


def _with_included(service: Path, file: str) -> list[str]:
    """The file, and those that it includes, and so on."""
    found = [file]
    for name in found:
        folder = posixpath.dirname(name)
        for included in _INCLUDES.findall(read_text(service / name)):
            path = posixpath.normpath(posixpath.join(folder, included))
            if path not in found and (service / path).is_file():
                found.append(path)
    return found


def _there(service: Path, *names: str) -> list[str]:
    return [below(name) for name in names if (service / name).is_file()]


def _json(service: Path, name: str) -> dict[str, Any]:
    return read_json(service / name) if (service / name).is_file() else {}


def _poetry_pins(service: Path) -> _Pins:
    file = service / "poetry.lock"
    locked = read_toml(file).get("package", []) if file.is_file() else []
    return {str(one["name"]).lower(): f"=={one['version']}" for one in locked}


def _named(wanted: Mapping[str, Any], pins: _Pins) -> Iterator[str]:
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
