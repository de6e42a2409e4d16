"""Finds PostgreSQL's programs: those installed, those of the package pgserver, or zonky's from Maven Central."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from touchstone.dependency.base import DependencyContext, DependencyError

EMBEDDED_VERSION = "17.11.0"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64v8"}
_INSTALL = (
    "install it by `apt-get install postgresql`, or `pip install pgserver`, or name a running one by --postgres URL"
)
EMBEDDED = "embedded"
"""The word that asks for the binaries from Maven Central though others are there."""


@dataclass(frozen=True)
class Installation:
    """A set of PostgreSQL's programs."""

    root: Path
    """The folder that holds bin, lib and share."""
    bin: Path
    version: str
    origin: str
    """Where they came from, in words."""

    def program(self, name: str) -> Path | None:
        """A program of the set, or of the PATH (client programs work across versions). None if there is none."""
        own = self.bin / name
        if os.access(own, os.X_OK):
            return own
        found = shutil.which(name)
        return Path(found) if found else None


def missing(context: DependencyContext) -> str | None:
    """What must be installed, and how; None if some PostgreSQL can be had."""
    wanted = context.options.get("postgres", "")
    if "://" in wanted or _first(_candidates(context, wanted)) or (not _is_folder(wanted) and _can_fetch()):
        return None
    return f"needs PostgreSQL's programs (initdb and postgres); {_INSTALL}"


def find_installation(context: DependencyContext) -> Installation:
    """The programs to use; fetched through Maven if none are there. Raises DependencyError."""
    wanted = context.options.get("postgres", "")
    found = _first(_candidates(context, wanted))
    if found is not None:
        return found
    if _is_folder(wanted):
        raise DependencyError(f"no initdb and postgres in {wanted}", fix=_INSTALL)
    return _fetched(context)


def _is_folder(wanted: str) -> bool:
    return bool(wanted) and wanted != EMBEDDED


def _candidates(context: DependencyContext, wanted: str) -> Iterator[tuple[Path, str]]:
    embedded = (_embedded_root(context) / "bin", "embedded binaries from Maven Central")
    if wanted == EMBEDDED:
        yield embedded
        return
    if wanted:
        folder = Path(wanted)
        yield (folder / "bin" if (folder / "bin").is_dir() else folder), "named by --postgres"
        return

    def newest(folder: Path) -> tuple[int, ...]:
        return tuple(int(part) for part in re.findall(r"\d+", folder.parent.name))

    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=newest, reverse=True):
        yield folder, "installed package"
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent, "on the PATH"
    specification = importlib.util.find_spec("pgserver")
    for place in (specification.submodule_search_locations or []) if specification else []:
        yield Path(place) / "pginstall" / "bin", "Python package pgserver"
    yield embedded


def _first(candidates: Iterator[tuple[Path, str]]) -> Installation | None:
    for folder, origin in candidates:
        if all(os.access(folder / program, os.X_OK) for program in ("initdb", "postgres")):
            try:
                asked = subprocess.run(
                    [folder / "postgres", "--version"], capture_output=True, text=True, timeout=10, check=True
                ).stdout
            except (OSError, subprocess.SubprocessError):
                continue
            if version := re.search(r"\d+(\.\d+)*", asked):
                return Installation(folder.parent, folder, version.group(), origin)
    return None


def _embedded_root(context: DependencyContext) -> Path:
    return context.cache / "postgres" / f"embedded-{EMBEDDED_VERSION}"


def _can_fetch() -> bool:
    return platform.machine() in _ARCHITECTURES and shutil.which("mvn") is not None


def _fetched(context: DependencyContext) -> Installation:
    if not _can_fetch():
        raise DependencyError("PostgreSQL is not installed, and without Maven it cannot be fetched", fix=_INSTALL)
    artifact = f"embedded-postgres-binaries-linux-{_ARCHITECTURES[platform.machine()]}"
    root = _embedded_root(context)
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent) as scratch:
        command = ["mvn", "-q", "-B", "-U", _COPY]
        command += [f"-Dartifact=io.zonky.test.postgres:{artifact}:{EMBEDDED_VERSION}", f"-DoutputDirectory={scratch}"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=600, check=False)
        jars = list(Path(scratch).glob("*.jar"))
        if done.returncode != 0 or not jars:
            raise DependencyError(
                f"Maven could not fetch {artifact} {EMBEDDED_VERSION}:\n{(done.stdout + done.stderr).strip()[-2000:]}",
                fix=_INSTALL,
            )
        tree = Path(scratch) / "tree"
        with zipfile.ZipFile(jars[0]) as jar:
            archive = next(name for name in jar.namelist() if name.endswith(".txz"))
            with jar.open(archive) as packed, tarfile.open(fileobj=packed, mode="r|xz") as tar:
                tar.extractall(tree, filter="data")
        # Renamed only when whole, so that an interruption leaves no half of it in the cache.
        shutil.rmtree(root, ignore_errors=True)
        tree.rename(root)
    found = _first(_candidates(context, EMBEDDED))
    if found is None:
        raise DependencyError(
            f"the embedded PostgreSQL in {root} does not run on this machine",
            fix=f"{_INSTALL}; `ldd {root}/bin/postgres` says which library it lacks",
        )
    return found
