"""Whether a Python project can be installed, judged by how its build tool finds modules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from touchstone.intake.service.reading import read_source, table_at, tables_at, text_at

_NOT_PACKAGES = re.compile(
    r"tests?|docs?|documentation|examples?|scripts?|tools?|bin|build|dist|benchmarks?|tasks|fabfile|ci|migrations|"
    r"changelog|news|requirements|htmlcov|venv|env|exercises?|manpages|assets|licenses?|\..*|_.*|node_modules|"
    r"test_.*|.*\.egg-info"
)
"""Folders that setuptools does not take for packages (setuptools.discovery.FlatLayoutPackageFinder)."""
_NOT_MODULES = re.compile(r"setup|conftest|tests?|examples?|build|toxfile|noxfile|pavement|dodo|tasks|fabfile|\[.*")


def is_installable(service: Path, held: dict[str, Any]) -> bool:
    """Whether its pyproject.toml has a build backend and its modules are where that looks."""
    poetry, tools = table_at(held, "tool", "poetry"), table_at(held, "tool")
    if poetry.get("package-mode") is False or table_at(tools, "uv").get("package") is False:
        return False
    if "build-system" not in held:
        return table_at(tools, "uv").get("package") is True
    backend = text_at(held, "build-system", "build-backend") or "setuptools"
    if backend.startswith("setuptools"):
        return _is_found_by_setuptools(service, table_at(tools, "setuptools"))
    by_name = backend.startswith(("poetry", "hatchling", "flit", "uv_build", "pdm"))
    stated = tables_at(poetry, "packages") or table_at(tools, "hatch", "build") or table_at(tools, "pdm", "build")
    name = text_at(held, "project", "name") or text_at(poetry, "name")
    return not by_name or bool(stated) or _is_found(service, name)


def _is_found_by_setuptools(service: Path, stated: dict[str, Any]) -> bool:
    """Whether setuptools finds the package: named, below `src`, or alone at the top."""
    found = "packages" in stated or "py-modules" in stated or (service / "setup.py").is_file()
    found = (
        found
        or re.search(r"^(?:packages|py_modules)\s*=", read_source(service / "setup.cfg"), re.MULTILINE) is not None
    )
    return found or (service / "src").is_dir() or len(_flat(service)) == 1


def _flat(service: Path) -> list[str]:
    """The packages, or else the modules, that setuptools finds at the top."""
    folders = [path for path in sorted(service.iterdir()) if path.is_dir() and path.name.isidentifier()]
    packages = [path.name for path in folders if not _NOT_PACKAGES.fullmatch(path.name)]
    modules = [path.stem for path in sorted(service.glob("*.py")) if not _NOT_MODULES.fullmatch(path.stem)]
    return packages or modules


def _is_found(service: Path, name: str) -> bool:
    """Whether a module is called as the project is."""
    module = re.sub(r"[-.]+", "_", name).lower()
    places = [service / top / f"{module}{end}" for top in (".", "src") for end in ("", ".py")]
    return bool(module) and any(place.exists() for place in places)
