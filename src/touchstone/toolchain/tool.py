"""A tool: where it is, which version it has, and how to install it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from touchstone.failure import UsageError


@dataclass(frozen=True)
class FoundTool:
    """A tool on this machine."""

    name: str
    path: Path
    version: Version
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    """What a command needs in its environment so that it uses this very tool, such as JAVA_HOME."""
    note: str = ""

    def __hash__(self) -> int:
        return hash((self.name, self.path, self.version))


@dataclass(frozen=True)
class MissingTool:
    """A tool that is not there, or is too old."""

    name: str
    wanted: str
    install: str
    seen: str = ""

    def __str__(self) -> str:
        seen = f" (found {self.seen})" if self.seen else ""
        wanted = f" {self.wanted}" if self.wanted else ""
        return f"needs {self.name}{wanted}{seen}; {self.install}"


@dataclass(frozen=True)
class Tool:
    """How to find one tool."""

    name: str
    version_command: tuple[str, ...]
    version_pattern: str
    install: str
    executables: tuple[str, ...] = ()
    places: Callable[[], Iterable[Path]] = tuple
    """Further executables to look at, next to the PATH."""
    environment: Callable[[Path], dict[str, str]] = lambda _path: {}
    where_it_is: tuple[str, ...] = ()
    """What makes it print its own path: version managers put shell scripts on the PATH, whose start would be measured
    with the program's."""
    says_its_origin: bool = False
    """True if the version line tells builds of one version apart; it becomes the note of what is found."""

    def candidates(self) -> list[Path]:
        """Every executable that could be the tool, the PATH's first."""
        on_path = [Path(p) for name in self.executables or (self.name,) if (p := shutil.which(name))]
        return list(dict.fromkeys([*on_path, *(p for p in self.places() if os.access(p, os.X_OK))]))

    def find(self, wanted: str = "") -> FoundTool | MissingTool:
        """The first candidate whose version lies in the range `wanted` (such as `>=1.24`)."""
        specifier = _specifier(self.name, wanted)
        seen = []
        for path in self.candidates():
            output = _version_text(path, self.version_command)
            version = _version_in(output, self.version_pattern)
            if version is None:
                continue
            if specifier.contains(version, prereleases=True):
                note = output.strip().partition("\n")[0] if self.says_its_origin else ""
                own = self._itself(path)
                return FoundTool(self.name, own, version, self.environment(own), note)
            seen.append(f"{version} at {path}")
        return MissingTool(self.name, wanted, self.install, ", ".join(seen))

    def _itself(self, path: Path) -> Path:
        """The program behind a version manager's script; `path` if it is none."""
        if not self.where_it_is or _is_elf(path):
            return path
        output = _said_by(path, self.where_it_is).strip()
        return Path(output) if output and os.access(output, os.X_OK) else path


def _is_elf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _specifier(name: str, wanted: str) -> SpecifierSet:
    try:
        return SpecifierSet(wanted.replace(" ", ""))
    except InvalidSpecifier as error:
        raise UsageError(
            f"{wanted!r} is not a version range for {name}", fix="write it like '>=1.24' or '>=25,<26'"
        ) from error


@cache
def _version_text(path: Path, command: tuple[str, ...]) -> str:
    """What a tool says about its version; empty if it cannot be run."""
    return _said_by(path, command)


def _said_by(path: Path, command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run([str(path), *command], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _version_in(text: str, pattern: str) -> Version | None:
    match = re.search(pattern, text)
    try:
        return Version(match.group(1)) if match else None
    except InvalidVersion:
        return None
