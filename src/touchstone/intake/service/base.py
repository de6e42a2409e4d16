"""A stack to edit, drafted from what lies in a service's folder."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from touchstone.failure import UsageError
from touchstone.intake.toml import table, text, value

APP = "app"
"""The service's folder within the work folder."""
Words = Sequence[str]
"""A command."""
_COMMENT = re.compile(r"""("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/""", re.DOTALL)
_LAST_COMMA = re.compile(r"""("(?:\\.|[^"\\])*")|,(?=\s*[}\]])""")
_TOLD = "# It gets HOST and PORT in its environment; {host} and {port} stand for them, here and in `env`."


@dataclass(frozen=True)
class DraftInstall:
    """How what the service depends on is got."""

    commands: Sequence[Words]
    files: Sequence[str] = ()
    leaves: Sequence[str] = ()


@dataclass(frozen=True)
class DraftStack:
    """How a service is built and run, as its own files have it."""

    language: str
    needs: Mapping[str, str]
    artifacts: Sequence[str]
    run: Words
    """As from the service's folder; a program that lies in the work folder as from there."""
    install: DraftInstall | None = None
    build: Sequence[Words] = ()
    build_env: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    """What its command sets for itself."""
    port: int | None = None
    """Where it listens whatever it is told."""
    name: str = ""
    """What its files call it: its variables may begin with that."""
    others: Sequence[str] = ()
    """The folders of programs that are not run, as from the service's: what these ask for is not asked of it."""
    place: str = ""
    """Where the service lies within the workspace that is copied whole; empty if it is copied alone."""
    at_top: bool = False
    """Whether it is started at that workspace's top, and not in its own folder."""
    guessed: Sequence[str] = ()
    """What the author should look at."""

    def toml(self, name: str, scenario: str, title: str, source: str) -> str:
        """The text of a stack.toml; `source` is the path from its folder to the service's."""
        return "\n".join(self._lines(name, scenario, title, source)) + "\n"

    def _lines(self, name: str, scenario: str, title: str, source: str) -> Iterator[str]:
        yield "# A draft from the service's own files. Look at what is marked."
        yield "schema = 1"
        yield f"name = {text(name)}"
        yield f"scenario = {text(scenario)}"
        yield f"title = {text(title)}"
        yield f"language = {text(self.language)}"
        what = "the service's workspace" if self.place else "the service"
        yield f"extra_sources = {table({APP: source})}   # {what} as it is: its files lie below {APP}/"
        yield from ("", "[needs]")
        yield from (f"{tool} = {text(version)}" for tool, version in self.needs.items())
        if self.install:
            yield from ("", "[install]                   # kept apart from the build, and from its time")
            if self.install.files:
                yield f"files = {value(list(self.install.files))}"
            yield from _commands("commands", self.install.commands)
            if self.install.leaves:
                yield f"leaves = {value(list(self.install.leaves))}"
        yield from ("", "[variants.plain]", 'title = "as it is deployed"')
        if self.build:
            yield from _commands("build", self.build)
        if self.build_env:
            yield f"build_env = {table(self.build_env)}"
        yield from (f"# look: {guess}" for guess in self.guessed)
        yield f"artifacts = {value(list(self.artifacts))}   # all that is shipped"
        if self.port is not None:
            yield f"port = {self.port}   # where it listens; without it, on HOST and PORT from the environment"
        else:
            yield _TOLD
        yield f"run = {value(list(self.run))}"
        top = f"; {text(APP)} is the workspace's top" if self.place else ""
        yield f"run_in = {text(APP if self.at_top else below(self.place))}   # the folder in which it is started{top}"
        if self.env:
            yield f"env = {table(self.env)}"


def _commands(key: str, commands: Sequence[Words]) -> Iterator[str]:
    if len(commands) == 1:
        yield f"{key} = [{value(list(commands[0]))}]"
        return
    yield from (f"{key} = [", *(f"  {value(list(words))}," for words in commands), "]")


def below(path: str, place: str = "") -> str:
    """A file of the service, as it is called in the work folder; `place` is the service's within its workspace."""
    return "/".join(part for part in (APP, place, path) if part not in (".", ""))


def first_there(service: Path, names: Iterable[str]) -> str | None:
    """The first of these files that the service has."""
    return next((name for name in names if (service / name).is_file()), None)


def read_text(path: Path) -> str:
    """What a file of the service holds. Raises UsageError."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"it cannot be read: {error}", where=str(path), fix="correct the file") from error


def read_json(path: Path, *, comments: bool = False) -> dict[str, Any]:
    """What a JSON file of the service holds; empty if that is no object. Raises UsageError.

    With `comments` these may stand in it, and a comma behind the last of a list.
    """
    plain = read_text(path)
    for left_out in (_COMMENT, _LAST_COMMA) if comments else ():
        plain = left_out.sub(lambda found: found[1] or "", plain)
    try:
        held = json.loads(plain)
    except json.JSONDecodeError as error:
        raise UsageError(f"it is no JSON: {error}", where=str(path), fix="correct the file") from error
    return held if isinstance(held, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file of the service holds. Raises UsageError."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"it is no TOML: {error}", where=str(path), fix="correct the file") from error
